require "http/server"

# Answers GET /franklin-says with one of Benjamin Franklin's proverbs, drawn at random.
class QuotesHandler
  include HTTP::Handler

  @date : String?

  # Crystal's server leaves Date to the application and says Connection: keep-alive in every answer,
  # which HTTP/1.1 does without.
  def initialize(@quotes : Array(String), @content_type : String, date : Bool, @connection : Bool)
    keep_date if date
  end

  def call(context)
    request, response = context.request, context.response
    return call_next(context) unless request.path == "/franklin-says"
    unless request.method.in?("GET", "HEAD")
      response.headers["Allow"] = "GET, HEAD"
      return response.respond_with_status(HTTP::Status::METHOD_NOT_ALLOWED)
    end

    response.content_type = @content_type
    response.headers.delete("Connection") if !@connection && request.keep_alive?
    @date.try { |date| response.headers["Date"] = date }
    quote = @quotes.sample
    response.content_length = quote.bytesize
    response.print(quote) unless request.method == "HEAD"
  end

  # Writes the date anew each second, as it says nothing finer.
  private def keep_date
    @date = HTTP.format_time(Time.utc)
    spawn do
      loop do
        sleep 1.second
        @date = HTTP.format_time(Time.utc)
      end
    end
  end
end

if ARGV == ["--version"]
  puts "HTTP::Server of Crystal #{Crystal::VERSION}"
  exit
end

quotes = File.read_lines(Path[ENV["CONTRACT_DIR"], "quotes.txt"], chomp: false)
handler = QuotesHandler.new(
  quotes, ENV["CONTENT_TYPE"], date: ENV["DATE"] == "true", connection: ENV["CONNECTION"] == "true")
server = HTTP::Server.new([handler])
server.bind_tcp(ENV["HOST"], ENV["PORT"].to_i, reuse_port: true)

# A Crystal program runs on one thread (its preview of several is still marked as such), so further
# cores are used by further processes that share the port: the first one starts the others.
others = Array.new(ENV["WORKERS"].to_i - 1) do
  Process.new(PROGRAM_NAME, env: {"WORKERS" => "1"}, output: :inherit, error: :inherit)
end

stop = ->(_signal : Signal) do
  others.each { |other| other.terminate unless other.terminated? }
  server.close
end
Signal::TERM.trap(&stop)
Signal::INT.trap(&stop)

server.listen
others.each(&.wait)
