# frozen_string_literal: true

require "sinatra/base"
require "time"

# Answers GET /franklin-says with one of Benjamin Franklin's proverbs, drawn at random.
class Quotes < Sinatra::Base
  # `set` wants settings that are known before the first request; ENV is read here and nowhere else.
  set :quotes, File.readlines(File.join(ENV.fetch("CONTRACT_DIR"), "quotes.txt")).freeze
  set :text, ENV.fetch("CONTENT_TYPE")
  set :date, ENV.fetch("DATE") == "true"
  set :logging, ENV.fetch("REQUEST_LOG") == "true"
  set :protection, ENV.fetch("PROTECTION") == "true"

  get "/franklin-says" do
    content_type settings.text
    # Puma leaves Date to the application (RFC 9110 asks servers with a clock for it).
    headers "Date" => Time.now.httpdate if settings.date
    settings.quotes.sample
  end
end
