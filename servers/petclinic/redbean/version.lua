-- redbean -i version.lua prints one line.
local version = GetRedbeanVersion()
print(("redbean %d.%d.%d, %s"):format(version >> 16, version >> 8 & 255, version & 255, _VERSION))
