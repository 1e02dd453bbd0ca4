-- POST: settings alone, no function.
wrk.method = "POST"
wrk.body = "name=ada&born=1815"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
