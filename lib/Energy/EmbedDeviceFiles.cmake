# Writes the device files as a C++ initializer list of {file name, text}: cmake -DOUT=... -DFILES=a;b -P this.
set(list "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND list "{\"${name}\", R\"device(${text})device\"},\n")
endforeach()
file(WRITE ${OUT} "${list}")
