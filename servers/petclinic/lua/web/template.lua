-- Templates: text with {{ expression }}, {% statement %} and {# comment #}.
--
--   {% extends "layout.html" %}          the template whose blocks this one fills
--   {% block name %}...{% endblock %}    a block; in a layout its content is the default
--   {% if e %}..{% elif e %}..{% else %}..{% endif %}
--   {% for x in e %}...{% endfor %}      over a list
--
-- An expression is names, fields, strings, numbers, comparison by == and ~=, and / or / not. What {{ }} prints is
-- escaped. A statement alone on its line takes the line with it. Each template is compiled once, into a Lua function
-- that appends to a list of strings; Lua 5.4 and LuaJIT run it alike.

local template = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- `value` as text that is safe between tags and inside a quoted attribute.
function template.escape(value)
  if type(value) ~= "string" then
    if value == nil then error("a template prints a value that is not set", 2) end
    return tostring(value)
  end
  if not value:find("[&<>\"']") then return value end
  return (value:gsub("[&<>\"']", ENTITIES))
end

local RESERVED = { ["and"] = true, ["or"] = true, ["not"] = true, ["true"] = true, ["false"] = true, ["nil"] = true }

-- Lua's own expression syntax, with every free name looked up in the context `c` or among the loop variables.
local function translate(expression, loops, fail)
  local out, at = {}, 1
  while at <= #expression do
    local space = expression:match("^%s+", at)
    local dotted = expression:match("^%.[%a_][%w_]*", at)
    local name = expression:match("^[%a_][%w_]*", at)
    local literal = expression:match('^"[^"\\]*"', at) or expression:match("^'[^'\\]*'", at)
      or expression:match("^%d+%.?%d*", at)
    local operator = expression:match("^[=~]=", at) or expression:match("^[()]", at)
    local piece = space or dotted or name or literal or operator
    if not piece then fail("cannot read the expression " .. expression) end
    if name and not RESERVED[name] then
      out[#out + 1] = loops[name] and "v_" .. name or "c." .. name
    else
      out[#out + 1] = piece
    end
    at = at + #piece
  end
  return table.concat(out)
end

-- Cuts `source` into { kind, text, line } with kind "text", "print" or "do".
local function scan(source)
  local tokens, at, line = {}, 1, 1
  local at_line_start = true
  local function add(kind, text)
    if text ~= "" then tokens[#tokens + 1] = { kind = kind, text = text, line = line } end
    line = line + select(2, text:gsub("\n", ""))
  end
  while true do
    local open = source:find("{[{%%#]", at)
    if not open then break end
    local sort = source:sub(open + 1, open + 1)
    local closing = sort == "{" and "}}" or sort .. "}"
    local close = source:find(closing, open + 2, true)
    if not close then error(("line %d: {%s without %s"):format(line, sort, closing), 0) end
    local text, inner = source:sub(at, open - 1), source:sub(open + 2, close - 1)
    at = close + 2
    if sort ~= "{" then
      text = text:gsub("\n[ \t]+$", "\n")
      if at_line_start then text = text:gsub("^[ \t]+$", "") end
      at_line_start = source:sub(at, at) == "\n"
      if at_line_start then at = at + 1 end
    else
      at_line_start = false
    end
    add("text", text)
    if sort ~= "#" then add(sort == "{" and "print" or "do", inner:match("^%s*(.-)%s*$")) end
  end
  add("text", source:sub(at))
  return tokens
end

local Compiler = {}
Compiler.__index = Compiler

function Compiler:emit(code)
  local chunk = self.chunk
  chunk[#chunk + 1] = code
end

function Compiler:fail(message)
  error(("%s line %d: %s"):format(self.name, self.line, message), 0)
end

function Compiler:expression(text)
  return translate(text, self.loops, function(message) self:fail(message) end)
end

function Compiler:open(kind, name)
  self.stack[#self.stack + 1] = { kind = kind, name = name, chunk = self.chunk }
end

function Compiler:close(kind)
  local top = table.remove(self.stack)
  if not top or top.kind ~= kind then self:fail("end" .. kind .. " closes no " .. kind) end
  return top
end

-- What each statement compiles to. `rest` is the text after the keyword.
local STATEMENTS = {}

function STATEMENTS.extends(self, rest)
  self.parent = rest:match('^"([^"]+)"$') or self:fail('extends wants a name in double quotes')
end

function STATEMENTS.block(self, rest)
  if not rest:match("^[%a_][%w_]*$") then self:fail("a block wants a name") end
  self:emit(("n = blocks.%s(w, n, c, blocks)"):format(rest))
  self:open("block", rest)
  self.chunk = {}
end

function STATEMENTS.endblock(self)
  local top = self:close("block")
  self.blocks[top.name] = self.chunk
  self.chunk = top.chunk
end

STATEMENTS["if"] = function(self, rest)
  self:emit(("if %s then"):format(self:expression(rest)))
  self:open("if")
end

STATEMENTS["elif"] = function(self, rest) self:emit(("elseif %s then"):format(self:expression(rest))) end
STATEMENTS["else"] = function(self) self:emit("else") end

function STATEMENTS.endif(self)
  self:close("if")
  self:emit("end")
end

STATEMENTS["for"] = function(self, rest)
  local name, list = rest:match("^([%a_][%w_]*)%s+in%s+(.+)$")
  if not name then self:fail("for wants: for NAME in LIST") end
  self:emit(("for _, v_%s in ipairs(%s) do"):format(name, self:expression(list)))
  self.loops[name] = true
  self:open("for", name)
end

function STATEMENTS.endfor(self)
  self.loops[self:close("for").name] = nil
  self:emit("end")
end

local function chunk_function(chunk)
  return ("function(w, n, c, blocks)\n%s\nreturn n\nend"):format(table.concat(chunk, "\n"))
end

--- Compiles `source` into { parent = name or nil, main = function, blocks = { name = function } }.
function template.compile(source, name)
  local self = setmetatable({ name = name, chunk = {}, stack = {}, loops = {}, blocks = {}, line = 1 }, Compiler)
  local main = self.chunk
  for _, token in ipairs(scan(source)) do
    self.line = token.line
    if token.kind == "text" then
      self:emit(("n = n + 1; w[n] = %q"):format(token.text))
    elseif token.kind == "print" then
      self:emit(("n = n + 1; w[n] = escape(%s)"):format(self:expression(token.text)))
    else
      local keyword, rest = token.text:match("^(%a+)%s*(.*)$")
      local statement = STATEMENTS[keyword] or self:fail("unknown statement " .. token.text)
      statement(self, rest)
    end
  end
  if #self.stack > 0 then self:fail(self.stack[#self.stack].kind .. " is never closed") end

  local code = { "local escape, ipairs = ...\nlocal t = { blocks = {} }", "t.main = " .. chunk_function(main) }
  for block, chunk in pairs(self.blocks) do
    code[#code + 1] = ("t.blocks.%s = %s"):format(block, chunk_function(chunk))
  end
  code[#code + 1] = "return t"
  local compiled = assert(load(table.concat(code, "\n"), "=" .. name, "t", {}))(template.escape, ipairs)
  compiled.parent = self.parent
  return compiled
end

--- A set of templates read by `read(name)`; each is compiled at its first use and kept.
-- Returns `render(name, context)`, which gives the page as one string.
function template.set(read)
  local ready = {}

  local function resolve(name)
    local page = ready[name]
    if page then return page end
    local compiled = template.compile(read(name), name)
    if compiled.parent then
      local parent = resolve(compiled.parent)
      local blocks = setmetatable(compiled.blocks, { __index = parent.blocks })
      page = { main = parent.main, blocks = blocks }
    else
      page = { main = compiled.main, blocks = compiled.blocks }
    end
    ready[name] = page
    return page
  end

  return function(name, context)
    local page, words = resolve(name), {}
    page.main(words, 0, context, page.blocks)
    return table.concat(words)
  end
end

return template
