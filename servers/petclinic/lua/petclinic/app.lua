-- Petclinic: the routes of the application. `require "petclinic.app"(host, records)` builds it; `records()` gives the
-- store of the current process.

local App = require "web.app"
local form = require "web.form"
local forms = require "petclinic.forms"

local ID = "[%d]"

local function owner_path(id) return "/owners/" .. id end

-- Pages about owners -----------------------------------------------------------------------------------------------

local function add_owner_routes(app, records)
  app:get("/owners/find", function()
    return app:page("owners/find.html", { active = "owners", last_name = "", not_found = false })
  end)

  app:get("/owners", function(request)
    local prefix = form.trim(request.param("lastName"))
    local owners = records():owners(prefix)
    if #owners == 0 then
      return app:page("owners/find.html", { active = "owners", last_name = prefix, not_found = true })
    end
    if #owners == 1 then return App.see_other(owner_path(owners[1].id)) end
    return app:page("owners/list.html", { active = "owners", owners = owners })
  end)

  local function owner_form(heading, back, values, problems)
    return app:page("form.html", {
      active = "owners",
      heading = heading,
      back = back,
      fields = form.view(forms.owner, values, problems),
    }, problems and 422 or 200)
  end

  app:get("/owners/new", function() return owner_form("New owner", "/owners/find", {}) end)

  app:post("/owners/new", function(request)
    local values, problems = form.read(forms.owner, request.param)
    if problems then return owner_form("New owner", "/owners/find", values, problems) end
    return App.see_other(owner_path(records():add_owner(values)))
  end)

  app:get("/owners/:owner_id" .. ID, function(_, params)
    local owner = records():owner(params.owner_id)
    if not owner then return app:not_found() end
    owner.pets = records():pets(owner.id)
    owner.without_pets = #owner.pets == 0
    return app:page("owners/detail.html", { active = "owners", owner = owner })
  end)

  app:get("/owners/:owner_id" .. ID .. "/edit", function(_, params)
    local owner = records():owner(params.owner_id)
    if not owner then return app:not_found() end
    return owner_form("Edit owner", owner_path(owner.id), {
      firstName = owner.first_name,
      lastName = owner.last_name,
      address = owner.address,
      city = owner.city,
      telephone = owner.telephone,
    })
  end)

  app:post("/owners/:owner_id" .. ID .. "/edit", function(request, params)
    local owner = records():owner(params.owner_id)
    if not owner then return app:not_found() end
    local values, problems = form.read(forms.owner, request.param)
    if problems then return owner_form("Edit owner", owner_path(owner.id), values, problems) end
    records():change_owner(owner.id, values)
    return App.see_other(owner_path(owner.id))
  end)
end

-- Pages about pets -------------------------------------------------------------------------------------------------

local function add_pet_routes(app, records)
  local function pet_form(heading, owner, fields, values, problems)
    return app:page("form.html", {
      active = "owners",
      heading = heading,
      about = "Owner: " .. owner.name,
      back = owner_path(owner.id),
      fields = form.view(fields, values, problems),
    }, problems and 422 or 200)
  end

  -- What was sent, with the one rule that needs the records: an owner's pets have different names.
  local function read_pet(request, fields, owner, pet_id)
    local values, problems = form.read(fields, request.param)
    if not (problems and problems.name) and records():has_pet_named(owner.id, values.name, pet_id) then
      problems = problems or {}
      problems.name = "This owner already has a pet of that name"
    end
    return values, problems
  end

  app:get("/owners/:owner_id" .. ID .. "/pets/new", function(_, params)
    local owner = records():owner(params.owner_id)
    if not owner then return app:not_found() end
    return pet_form("New pet", owner, forms.pet(records():types()), {})
  end)

  app:post("/owners/:owner_id" .. ID .. "/pets/new", function(request, params)
    local owner = records():owner(params.owner_id)
    if not owner then return app:not_found() end
    local fields = forms.pet(records():types())
    local values, problems = read_pet(request, fields, owner, 0)
    if problems then return pet_form("New pet", owner, fields, values, problems) end
    records():add_pet(owner.id, values)
    return App.see_other(owner_path(owner.id))
  end)

  app:get("/owners/:owner_id" .. ID .. "/pets/:pet_id" .. ID .. "/edit", function(_, params)
    local owner = records():owner(params.owner_id)
    local pet = owner and records():pet(owner.id, params.pet_id)
    if not pet then return app:not_found() end
    local values = { name = pet.name, birthDate = pet.birth_date, type = tostring(pet.type_id) }
    return pet_form("Edit pet", owner, forms.pet(records():types()), values)
  end)

  app:post("/owners/:owner_id" .. ID .. "/pets/:pet_id" .. ID .. "/edit", function(request, params)
    local owner = records():owner(params.owner_id)
    local pet = owner and records():pet(owner.id, params.pet_id)
    if not pet then return app:not_found() end
    local fields = forms.pet(records():types())
    local values, problems = read_pet(request, fields, owner, pet.id)
    if problems then return pet_form("Edit pet", owner, fields, values, problems) end
    records():change_pet(pet.id, values)
    return App.see_other(owner_path(owner.id))
  end)
end

-- Pages about visits -----------------------------------------------------------------------------------------------

local function add_visit_routes(app, records)
  local base = "/owners/:owner_id" .. ID .. "/pets/:pet_id" .. ID .. "/visits/"

  local function visit_form(heading, owner, pet, values, problems)
    return app:page("form.html", {
      active = "owners",
      heading = heading,
      about = ("%s, owner: %s"):format(pet.name, owner.name),
      back = owner_path(owner.id),
      fields = form.view(forms.visit, values, problems),
    }, problems and 422 or 200)
  end

  -- The owner and the pet that the address names; nothing unless they belong together.
  local function subject(params)
    local owner = records():owner(params.owner_id)
    local pet = owner and records():pet(owner.id, params.pet_id)
    return owner, pet
  end

  app:get(base .. "new", function(_, params)
    local owner, pet = subject(params)
    if not pet then return app:not_found() end
    return visit_form("New visit", owner, pet, { date = os.date("%Y-%m-%d") })
  end)

  app:post(base .. "new", function(request, params)
    local owner, pet = subject(params)
    if not pet then return app:not_found() end
    local values, problems = form.read(forms.visit, request.param)
    if problems then return visit_form("New visit", owner, pet, values, problems) end
    records():add_visit(pet.id, values)
    return App.see_other(owner_path(owner.id))
  end)

  app:get(base .. ":visit_id" .. ID .. "/edit", function(_, params)
    local owner, pet = subject(params)
    local visit = pet and records():visit(pet.id, params.visit_id)
    if not visit then return app:not_found() end
    return visit_form("Edit visit", owner, pet, { date = visit.visit_date, description = visit.description })
  end)

  app:post(base .. ":visit_id" .. ID .. "/edit", function(request, params)
    local owner, pet = subject(params)
    local visit = pet and records():visit(pet.id, params.visit_id)
    if not visit then return app:not_found() end
    local values, problems = form.read(forms.visit, request.param)
    if problems then return visit_form("Edit visit", owner, pet, values, problems) end
    records():change_visit(visit.id, values)
    return App.see_other(owner_path(owner.id))
  end)
end

-- The whole --------------------------------------------------------------------------------------------------------

return function(host, records)
  local app = App.new(host, "The clinic could not answer this request. It has been noted.")
  app:static("/assets/")

  app:get("/", function() return app:page("welcome.html", { active = "home" }) end)
  app:get("/vets", function() return app:page("vets.html", { active = "vets", vets = records():vets() }) end)
  app:get("/oops", function() error("thrown on purpose, to show what the clinic does then") end)

  add_owner_routes(app, records)
  add_pet_routes(app, records)
  add_visit_routes(app, records)
  return app
end
