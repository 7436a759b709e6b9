# Writes the C++ source OUTPUT with the texts of files: cmake -DOUTPUT=... "-DFILES=NAME=PATH;..." -P embed.cmake
set(sources "")
foreach(each IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.*)$" matched "${each}")
  file(READ "${CMAKE_MATCH_2}" text)
  string(APPEND sources "    {\"${CMAKE_MATCH_1}\", R\"~~~(${text})~~~\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"exported_sources.h\"\n\n"
                       "const std::vector<ExportedSource> exported_sources = {\n${sources}};\n")
