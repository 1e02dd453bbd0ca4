-- The clinic's forms: fields, labels and rules.

local form = require "web.form"
local rules = form.rules

local forms = {}

forms.owner = {
  { name = "firstName", label = "First name", rules = { rules.required, rules.at_most(64) } },
  { name = "lastName", label = "Last name", rules = { rules.required, rules.at_most(64) } },
  { name = "address", label = "Address", rules = { rules.required, rules.at_most(255) } },
  { name = "city", label = "City", rules = { rules.required, rules.at_most(64) } },
  { name = "telephone", label = "Telephone", rules = {
    rules.matches("^%d%d%d%d%d%d%d%d%d%d$", "10 digits, nothing else"),
  } },
}

forms.visit = {
  { name = "date", label = "Date", type = "date", rules = { rules.date } },
  { name = "description", label = "What was done", rules = { rules.required, rules.at_most(255) } },
}

--- The form of a pet, whose type is one of `types` ({ id, name }).
function forms.pet(types)
  local options = {}
  for index, kind in ipairs(types) do options[index] = { value = tostring(kind.id), label = kind.name } end
  return {
    { name = "name", label = "Name", rules = { rules.required, rules.at_most(64) } },
    { name = "birthDate", label = "Born on", type = "date", rules = { rules.date, rules.not_in_the_future } },
    { name = "type", label = "Type", options = options, rules = { rules.one_of(options) } },
  }
end

return forms
