"""Which of these serves more? A study whose cases are commands or URLs, and which ends when it knows.

with machine_lock(settings), Meeting(contest, settings, observer) as meeting:
    meeting.get_ready()                            # set up, started once, asked, found alike
    with store.create(settings.results, header) as run_file:
        run = meeting.run(run_file, header)        # blocks until settled, or out of budget
answer(run)                                        # from the record alone
"""
