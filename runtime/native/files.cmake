# What the core is made of: its parts, which its own tests know; and what C programs and Python see
# of it. A good part of the time that these short files take is that of the library's headers.
set(PARTS array asker crew door gone inside launch memory pack pool program record room script
    skyline sleep stream streams tape task way)
set(FACES core dealer held)
set(HEADERS <algorithm> <array> <atomic> <chrono> <condition_variable> <functional> <memory> <mutex>
    <queue> <span> <thread> <vector>)
foreach(list PARTS FACES)
  list(TRANSFORM ${list} PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  list(TRANSFORM ${list} APPEND .cpp)
endforeach()
