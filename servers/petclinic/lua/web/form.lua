-- Forms: named fields, each with a list of rules; the first rule that is broken gives the field's message.

local form = {}

--- Text without the white space around it; "" for nothing.
function form.trim(text)
  return (text or ""):match("^%s*(.-)%s*$")
end

-- Characters, not bytes: UTF-8 continuation bytes (10xxxxxx) do not count.
local function length(text)
  return select(2, text:gsub("[^\128-\191]", ""))
end

local DAYS = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

-- True for a day of the calendar written YYYY-MM-DD.
local function is_date(text)
  local year, month, day = text:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)$")
  if not year then return false end
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  local days = DAYS[month]
  if not days then return false end
  if month == 2 and year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0) then days = 29 end
  return day >= 1 and day <= days
end

--- Rules. Each takes a trimmed value and returns its message, or nothing when the value is right.
form.rules = {}

function form.rules.required(value)
  if value == "" then return "Required" end
end

function form.rules.at_most(limit)
  return function(value)
    if length(value) > limit then return ("At most %d characters"):format(limit) end
  end
end

function form.rules.matches(pattern, message)
  return function(value)
    if not value:match(pattern) then return message end
  end
end

function form.rules.date(value)
  if not is_date(value) then return "A date such as 2024-05-31" end
end

function form.rules.not_in_the_future(value)
  if value > os.date("%Y-%m-%d") then return "Not in the future" end
end

function form.rules.one_of(options)
  return function(value)
    for _, option in ipairs(options) do
      if option.value == value then return nil end
    end
    return "Choose one"
  end
end

--- Reads the declared `fields` ({ name, label, type, rules, options }) with `param(name)`.
-- Returns the values by name and the messages by name, or nil in their place when all is well.
function form.read(fields, param)
  local values, problems = {}, nil
  for _, field in ipairs(fields) do
    local value = form.trim(param(field.name))
    values[field.name] = value
    for _, rule in ipairs(field.rules) do
      local message = rule(value)
      if message then
        problems = problems or {}
        problems[field.name] = message
        break
      end
    end
  end
  return values, problems
end

--- The fields as a template shows them, with `values` and `problems` filled in.
function form.view(fields, values, problems)
  local shown = {}
  for index, field in ipairs(fields) do
    local value = values[field.name] or ""
    local options
    if field.options then
      options = {}
      for number, option in ipairs(field.options) do
        options[number] = { value = option.value, label = option.label, chosen = option.value == value }
      end
    end
    shown[index] = {
      name = field.name,
      label = field.label,
      type = field.type or "text",
      value = value,
      options = options,
      problem = problems and problems[field.name],
    }
  end
  return shown
end

return form
