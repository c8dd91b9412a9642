# What comes from Debian, in one place.
find_package(Threads REQUIRED)
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS headers json url)
find_package(OpenSSL 3 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PostgreSQL REQUIRED)  # libpq
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(tomlplusplus CONFIG REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.87)
# Its .pc file asks for headers that Debian's package does without.
find_library(cjose_library NAMES cjose REQUIRED)
find_library(snappy_library NAMES snappy REQUIRED)

# gRPC, without TLS: for the kubelet's sockets. Archives, since the agent runs on hosts that have no such libraries.
pkg_check_modules(grpc REQUIRED grpc++_unsecure)
find_program(grpc_generator NAMES grpc_cpp_plugin REQUIRED)
add_library(grpc_archives INTERFACE)
target_compile_definitions(grpc_archives INTERFACE GRPC_USE_PROTO_LITE)
set(grpc_libraries ${grpc_STATIC_LIBRARIES} upb address_sorting re2 cares z)  # Its .pc file leaves these out.
list(REMOVE_DUPLICATES grpc_libraries)
set(grpc_found "")
foreach(name ${grpc_libraries})
  find_library(grpc_archive_${name} NAMES lib${name}.a)
  if(grpc_archive_${name})
    list(APPEND grpc_found ${grpc_archive_${name}})
  endif()
endforeach()
target_link_libraries(grpc_archives INTERFACE -Wl,--start-group ${grpc_found} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS})

# jemalloc in what is released (decisions/0015). It serves coroutine frames better than Asio's own recycling does,
# which keeps two of any size.
add_library(allocator INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL Release AND NOT HOSTLER_SANITIZE)
  find_library(jemalloc_archive NAMES libjemalloc_pic.a REQUIRED)
  target_link_libraries(allocator INTERFACE -Wl,--whole-archive ${jemalloc_archive} -Wl,--no-whole-archive
                        Threads::Threads)
endif()

# Debian ships llhttp as the sources that nodejs builds from; it has no library package.
add_library(llhttp STATIC /usr/share/llhttp/llhttp.c /usr/share/llhttp/api.c /usr/share/llhttp/http.c)
target_include_directories(llhttp SYSTEM PUBLIC /usr/share/include/llhttp)
target_compile_definitions(llhttp PUBLIC LLHTTP_STRICT_MODE=1)

# Boost.Asio, compiled once.
add_library(asio STATIC cmake/asio.cpp)
target_link_libraries(asio PUBLIC Boost::headers Threads::Threads)
target_compile_definitions(asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
                           BOOST_ASIO_DISABLE_BOOST_ALIGN
                           $<$<CONFIG:Release>:BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING>)
