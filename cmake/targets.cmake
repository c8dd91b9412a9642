# The layers, lowest first. A library links its row of the layer table and nothing else.
add_library(uplink_proto STATIC)
target_include_directories(uplink_proto SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(uplink_proto PUBLIC protobuf::libprotobuf-lite)
protobuf_generate(TARGET uplink_proto LANGUAGE cpp PROTOS proto/uplink.proto)
add_library(remote_write_proto STATIC)
target_include_directories(remote_write_proto SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(remote_write_proto PUBLIC protobuf::libprotobuf-lite)
protobuf_generate(TARGET remote_write_proto LANGUAGE cpp PROTOS proto/remote_write.proto)
add_library(kubelet_proto STATIC)
target_include_directories(kubelet_proto SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(kubelet_proto PUBLIC protobuf::libprotobuf-lite grpc_archives)
protobuf_generate(TARGET kubelet_proto LANGUAGE cpp
  PROTOS proto/device_plugin.proto proto/pod_resources.proto)
protobuf_generate(TARGET kubelet_proto LANGUAGE grpc GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc
  PLUGIN "protoc-gen-grpc=${grpc_generator}" PROTOS proto/device_plugin.proto proto/pod_resources.proto)

# What nearly every test needs, precompiled.
add_library(tests STATIC cmake/tests.cpp)
hostler_precompiled(tests core/testing/precompiled.h core/precompiled.h)
target_link_libraries(tests PUBLIC hostler_options asio Boost::headers fmt::fmt spdlog::spdlog GTest::gmock)

hostler_library(core src/core asio Boost::headers fmt::fmt spdlog::spdlog)
hostler_library(domain src/domain core)
hostler_library(ports src/ports core domain)
hostler_library(api src/api core domain Boost::json Boost::url)
hostler_library(http src/http core llhttp ZLIB::ZLIB)
hostler_library(wire src/wire core uplink_proto)
file(GLOB schema_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/schema/*.sql)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/schema/migrations.cpp
  COMMAND ${CMAKE_COMMAND} "-DFILES=${schema_files}" -DOUT=${CMAKE_CURRENT_BINARY_DIR}/schema/migrations.cpp
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_schema.cmake
  DEPENDS ${schema_files} ${PROJECT_SOURCE_DIR}/cmake/embed_schema.cmake VERBATIM)
add_library(schema STATIC ${CMAKE_CURRENT_BINARY_DIR}/schema/migrations.cpp)
target_link_libraries(schema PUBLIC hostler_options)
# The console as it is built by ./dev console, within the program: each file plain and compressed.
file(GLOB_RECURSE console_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/console/dist ${PROJECT_SOURCE_DIR}/console/dist/*)
list(TRANSFORM console_files PREPEND ${PROJECT_SOURCE_DIR}/console/dist/ OUTPUT_VARIABLE console_paths)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/console/files.cpp
  COMMAND ${CMAKE_COMMAND} "-DFILES=${console_files}" -DDIST=${PROJECT_SOURCE_DIR}/console/dist -DOUT=${CMAKE_CURRENT_BINARY_DIR}/console
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_console.cmake
  DEPENDS ${console_paths} ${PROJECT_SOURCE_DIR}/cmake/embed_console.cmake VERBATIM)
add_library(console_files STATIC ${CMAKE_CURRENT_BINARY_DIR}/console/files.cpp)
target_link_libraries(console_files PUBLIC hostler_options http)
hostler_library(sql src/sql core ports schema ZLIB::ZLIB)

set(adapter_row core domain ports http wire)
hostler_library(net src/adapters/net ${adapter_row} OpenSSL::SSL OpenSSL::Crypto)
hostler_library(sqlite src/adapters/sqlite ${adapter_row} sql SQLite::SQLite3)
hostler_library(postgres src/adapters/postgres ${adapter_row} sql PostgreSQL::PostgreSQL)
hostler_library(docker src/adapters/docker ${adapter_row} Boost::json yaml-cpp)
hostler_library(kubernetes_client src/adapters/kubernetes ${adapter_row} Boost::json yaml-cpp)
hostler_library(nvml src/adapters/nvml ${adapter_row} ${CMAKE_DL_LIBS})
# NVML's functions are called by our own declarations of them, which UBSan takes for other types.
if(HOSTLER_SANITIZE MATCHES undefined)
  target_compile_options(nvml PRIVATE -fno-sanitize=function)
endif()
hostler_library(cuda src/adapters/cuda ${adapter_row} ${CMAKE_DL_LIBS})
if(HOSTLER_SANITIZE MATCHES undefined)
  target_compile_options(cuda PRIVATE -fno-sanitize=function)
endif()
hostler_library(amd src/adapters/amd ${adapter_row})
hostler_library(intel src/adapters/intel ${adapter_row})
hostler_library(sysfs src/adapters/sysfs ${adapter_row})
hostler_library(sealed src/adapters/sodium ${adapter_row} PkgConfig::sodium)
hostler_library(curl src/adapters/curl ${adapter_row} PkgConfig::libcurl)
hostler_library(jose src/adapters/jose ${adapter_row} Boost::json ${cjose_library})
hostler_library(disk src/adapters/disk ${adapter_row})
hostler_library(series src/adapters/series ${adapter_row})
hostler_library(remote_write src/adapters/remote_write ${adapter_row} remote_write_proto ${snappy_library})
hostler_library(program src/adapters/program ${adapter_row} Boost::json)
hostler_library(node_steps src/adapters/node_steps ${adapter_row} Boost::json)
hostler_library(kubelet src/adapters/kubelet ${adapter_row} kubelet_proto)
hostler_library(sim src/adapters/sim ${adapter_row} SQLite::SQLite3)

set(role_row core domain ports api http wire)
hostler_headers(master_headers roles/master/http/precompiled.h ${role_row})
hostler_headers(master_test_headers roles/master/testing/precompiled.h ${role_row} GTest::gmock)
hostler_library(master src/roles/master ${role_row})
hostler_library(access src/roles/access core ports http wire)
hostler_library(agent src/roles/agent core domain ports http wire Boost::json)
hostler_library(gateway src/roles/gateway core ports http wire)
hostler_library(cli src/cli core api http wire CLI11::CLI11 yaml-cpp)

# The demo image's only file: static, without anything of ours, and without sanitizers, which cannot be static.
file(GLOB demo_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/demo/*.cpp)
add_executable(hostler-demo ${demo_sources})
target_include_directories(hostler-demo PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(hostler-demo PRIVATE -Wall -Wextra -Werror -Wshadow -Wno-unused-parameter -O2 -fno-sanitize=all)
set_target_properties(hostler-demo PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_link_options(hostler-demo PRIVATE -static -fno-sanitize=all -Wl,-s)

# Stands before iptables where podman asks for it: started twenty times for each container, so static and small, too.
add_executable(hostler-iptables src/iptables/main.cpp)
target_compile_options(hostler-iptables PRIVATE -Wall -Wextra -Werror -Wshadow -O2 -fno-sanitize=all)
set_target_properties(hostler-iptables PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_link_options(hostler-iptables PRIVATE -static -fno-sanitize=all -Wl,-s)

# The holder of a program by itself, for tests: hostler-agent has it, too.
add_executable(program-holder tests/contract/holder/main.cpp)
target_precompile_headers(program-holder REUSE_FROM core)
target_link_libraries(program-holder PRIVATE program node_steps)

# One suite per port, run on every adapter.
file(GLOB contract_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/contract/*.cpp)
add_executable(contract_test ${contract_sources})
target_precompile_headers(contract_test REUSE_FROM tests)
target_link_libraries(contract_test PRIVATE sqlite postgres docker program node_steps cluster_drivers disk series sim sealed curl jose remote_write net nvml amd intel sysfs Boost::json GTest::gtest_main GTest::gmock)
target_compile_definitions(contract_test PRIVATE
  PRIVATE_REGISTRY="${PROJECT_SOURCE_DIR}/tests/contract/private_registry.py" HOSTLER_DEMO="$<TARGET_FILE:hostler-demo>" HOSTLER_AGENT="$<TARGET_FILE:hostler-agent>"
  HOSTLER_IPTABLES="$<TARGET_FILE:hostler-iptables>" SIMULATED_NVML="$<TARGET_FILE:simulated_nvml>"
  PROGRAM_HOLDER="$<TARGET_FILE:program-holder>")
add_dependencies(contract_test program-holder hostler-agent hostler-demo hostler-iptables simulated_nvml)
add_test(NAME contract COMMAND contract_test --gtest_brief=1)
set_tests_properties(contract PROPERTIES LABELS contract TIMEOUT 600)

# NVML's C interface without a GPU: BUILD/simulated/libnvidia-ml.so.1. It links nothing of ours, and exports only
# what NVIDIA's library exports (and the name by which it is recognised).
file(GLOB simulated_nvml_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/simulated_nvml/*.cpp)
add_library(simulated_nvml SHARED ${simulated_nvml_sources})
target_link_libraries(simulated_nvml PRIVATE hostler_options)
target_compile_options(simulated_nvml PRIVATE -fvisibility=hidden)
target_link_options(simulated_nvml PRIVATE -static-libstdc++ -static-libgcc -Wl,-soname,libnvidia-ml.so.1
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/simulated_nvml/exports.map)
set_target_properties(simulated_nvml PROPERTIES OUTPUT_NAME nvidia-ml SUFFIX .so.1 NO_SONAME ON
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/simulated LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/simulated_nvml/exports.map)
# An NVML so old that it has hardly any functions, for tests.
add_library(sparse_nvml SHARED ${PROJECT_SOURCE_DIR}/src/adapters/nvml/testing/sparse_nvml.c)
set_target_properties(sparse_nvml PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/simulated)
if(TARGET nvml_test)
  add_dependencies(nvml_test simulated_nvml sparse_nvml)
  target_compile_definitions(nvml_test PRIVATE
    SIMULATED_NVML="$<TARGET_FILE:simulated_nvml>" SPARSE_NVML="$<TARGET_FILE:sparse_nvml>")
endif()

# CUDA's driver interface without a GPU, for tests, and the process that measures, by itself.
add_library(simulated_cuda SHARED src/simulated_cuda/cuda.cpp src/adapters/cuda/answers.cpp)
target_link_libraries(simulated_cuda PRIVATE hostler_options)
set_target_properties(simulated_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/simulated)
add_executable(cuda-measure src/simulated_cuda/measure.cpp)
target_link_libraries(cuda-measure PRIVATE cuda)
if(TARGET cuda_test)
  add_dependencies(cuda_test simulated_cuda simulated_nvml cuda-measure)
  target_compile_definitions(cuda_test PRIVATE SIMULATED_CUDA="$<TARGET_FILE:simulated_cuda>"
    SIMULATED_NVML="$<TARGET_FILE:simulated_nvml>" CUDA_MEASURE="$<TARGET_FILE:cuda-measure>")
endif()

# What is generated and committed: `./dev gen`.
add_executable(hostler-gen src/bin/gen.cpp)
target_link_libraries(hostler-gen PRIVATE api domain http)
if(TARGET api_test)
  target_compile_definitions(api_test PRIVATE HOSTLER_OPENAPI="${PROJECT_SOURCE_DIR}/openapi.json")
endif()
if(TARGET master_test)
  target_compile_definitions(master_test PRIVATE HOSTLER_RECORDED="${PROJECT_SOURCE_DIR}/tests/recorded")
endif()
if(TARGET docker_test)
  target_compile_definitions(docker_test PRIVATE HOSTLER_OCI_HOOK="${PROJECT_SOURCE_DIR}/deploy/hostler-agent/oci-hook.json"
    HOSTLER_OCI_STREAMS="${PROJECT_SOURCE_DIR}/deploy/hostler-agent/oci-streams.json")
endif()
if(TARGET http_test)
  target_compile_definitions(http_test PRIVATE HOSTLER_HTTP_CORPUS="${PROJECT_SOURCE_DIR}/docs/operate/http-corpus.md")
endif()

# Roles beside each other on real sockets: the shipped classes, with the rest of the cloud played by the tests.
file(GLOB roles_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/roles/*.cpp)
add_executable(roles_test ${roles_sources})
target_precompile_headers(roles_test REUSE_FROM master_test_headers_precompiled)
target_link_libraries(roles_test PRIVATE bench_fleet master master_test_headers access gateway agent cli cuda net sealed jose disk postgres series sqlite GTest::gtest_main GTest::gmock)
add_dependencies(roles_test simulated_cuda cuda-measure)
target_compile_definitions(roles_test PRIVATE SIMULATED_CUDA="$<TARGET_FILE:simulated_cuda>"
  CUDA_MEASURE="$<TARGET_FILE:cuda-measure>")
add_test(NAME roles COMMAND roles_test --gtest_brief=1)
set_tests_properties(roles PROPERTIES LABELS contract TIMEOUT 300)

# Drivers of clusters, which master and agent have within themselves: drivers/NAME/driver.toml.
file(GLOB driver_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/drivers/*/driver.toml)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/drivers/drivers.cpp
  COMMAND ${CMAKE_COMMAND} "-DFILES=${driver_files}" -DOUT=${CMAKE_CURRENT_BINARY_DIR}/drivers/drivers.cpp
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_drivers.cmake
  DEPENDS ${driver_files} ${PROJECT_SOURCE_DIR}/cmake/embed_drivers.cmake VERBATIM)
add_library(cluster_drivers STATIC src/bin/drivers.cpp ${CMAKE_CURRENT_BINARY_DIR}/drivers/drivers.cpp)
target_precompile_headers(cluster_drivers REUSE_FROM core)
target_link_libraries(cluster_drivers PUBLIC ports)
# Within itself: the agent has no other libraries than those that every host has.
target_compile_definitions(cluster_drivers PRIVATE TOML_HEADER_ONLY=1)

# hostler: the roles, `up`, and the command line.
add_executable(hostler src/bin/main.cpp src/bin/arguments.cpp src/bin/process.cpp src/bin/ready_file.cpp src/bin/metrics.cpp src/bin/master_main.cpp src/bin/master_options.cpp
  src/bin/run_options.cpp src/bin/series_options.cpp src/bin/remote_write.cpp src/bin/tls_options.cpp src/bin/proxy_options.cpp src/bin/up_tls.cpp
  src/bin/store_main.cpp src/bin/audit_main.cpp src/bin/cloud_mark.cpp src/bin/operator_key.cpp src/bin/backup_main.cpp src/bin/cluster_saves.cpp src/bin/templates.cpp src/bin/edge_mains.cpp src/bin/ca_main.cpp src/bin/key_files.cpp src/bin/seal_main.cpp src/bin/supervisor.cpp
  src/bin/containers.cpp src/bin/simulation.cpp src/bin/up.cpp src/bin/up_prepare.cpp src/bin/up_roles.cpp src/bin/up_main.cpp)
target_precompile_headers(hostler REUSE_FROM core)
target_link_libraries(hostler PRIVATE master access gateway cli console_files cluster_drivers net sealed sqlite postgres series remote_write curl jose docker disk nvml CLI11::CLI11 Boost::json
  tomlplusplus::tomlplusplus allocator)
# Templates are read where they lie.
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/templates ${CMAKE_BINARY_DIR}/templates SYMBOLIC)
add_dependencies(hostler hostler-demo hostler-iptables simulated_nvml)

# hostler-agent: runs on hosts of any distribution, so that it is dynamic only in glibc. The archives stand before the
# libraries that its layers name; the linker then has no need of those.
add_executable(hostler-agent src/bin/agent.cpp src/bin/arguments.cpp src/bin/cluster_saves.cpp src/bin/cluster_steps.cpp src/bin/gpu_challenge.cpp src/bin/gpu_commands.cpp src/bin/gpu_options.cpp src/bin/hardware.cpp src/bin/inventory.cpp src/bin/pod_devices.cpp src/bin/process.cpp src/bin/program_devices.cpp src/bin/program_options.cpp src/bin/ready_file.cpp
  src/bin/supervise.cpp cmake/static_fmt.cpp cmake/static_spdlog.cpp)
set_source_files_properties(cmake/static_fmt.cpp cmake/static_spdlog.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "-w")
target_precompile_headers(hostler-agent REUSE_FROM core)
set(agent_archives)
foreach(name boost_json protobuf-lite ssl crypto yaml-cpp sodium)
  find_library(agent_archive_${name} NAMES lib${name}.a REQUIRED)
  list(APPEND agent_archives ${agent_archive_${name}})
endforeach()
target_link_libraries(hostler-agent PRIVATE ${agent_archives} agent cluster_drivers net docker program node_steps kubelet disk sealed nvml cuda amd intel sysfs sim
  CLI11::CLI11 Boost::json)
target_link_options(hostler-agent PRIVATE -Wl,--as-needed)
if(NOT HOSTLER_SANITIZE)
  target_link_options(hostler-agent PRIVATE -static-libstdc++ -static-libgcc)
endif()

# ./dev bench: the gateway's front over plain TCP. Built with everything, so that it goes on building.
add_executable(bench-front bench/front.cpp)
target_precompile_headers(bench-front REUSE_FROM core)
target_link_libraries(bench-front PRIVATE gateway net allocator)
# ./dev bench telemetry: the load, into our store or to a peer.
add_executable(bench-telemetry bench/telemetry.cpp)
target_precompile_headers(bench-telemetry REUSE_FROM core)
target_link_libraries(bench-telemetry PRIVATE series CLI11::CLI11 allocator)
# ./dev bench agents: hosts without machines, for a real access point and master. Its parts are tested in roles_test.
add_library(bench_fleet STATIC bench/agents/fleet.cpp bench/agents/hosts.cpp bench/agents/load.cpp)
target_precompile_headers(bench_fleet REUSE_FROM master_headers_precompiled)
target_link_libraries(bench_fleet PUBLIC agent master net)
add_executable(bench-agents bench/agents/main.cpp)
target_precompile_headers(bench-agents REUSE_FROM core)
target_link_libraries(bench-agents PRIVATE bench_fleet sqlite CLI11::CLI11 allocator)
# ./dev bench estate: a term with the hosts and clients of a large fleet, in one process.
file(GLOB estate_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/estate/*.cpp)
add_executable(bench-estate ${estate_sources})
target_precompile_headers(bench-estate REUSE_FROM master_headers_precompiled)
target_link_libraries(bench-estate PRIVATE bench_fleet sqlite series sealed CLI11::CLI11 allocator)
# ./dev bench jobs: very many pending jobs, with the cloud and the hosts of bench-estate.
add_executable(bench-jobs bench/jobs/main.cpp bench/estate/cloud.cpp bench/estate/players.cpp bench/estate/turns.cpp)
target_precompile_headers(bench-jobs REUSE_FROM master_headers_precompiled)
target_link_libraries(bench-jobs PRIVATE bench_fleet sqlite series sealed CLI11::CLI11 allocator)
# ./dev bench tenancy: one decision of the gate.
add_executable(bench-decision bench/tenancy/decision.cpp)
target_precompile_headers(bench-decision REUSE_FROM core)
target_link_libraries(bench-decision PRIVATE domain allocator)
# The placement experiment, with the policies that ours is compared with.
file(GLOB placement_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/placement/*.cpp)
add_executable(bench-placement ${placement_sources})
target_precompile_headers(bench-placement REUSE_FROM core)
target_link_libraries(bench-placement PRIVATE domain CLI11::CLI11)
# ./dev bench fairness: jobs that share GPUs under domain/order, on a trace with the figures of other schedulers.
file(GLOB fairness_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/fairness/*.cpp)
add_executable(bench-fairness ${fairness_sources})
target_precompile_headers(bench-fairness REUSE_FROM core)
target_link_libraries(bench-fairness PRIVATE domain CLI11::CLI11)

# ./dev fuzz builds them all.
if(HOSTLER_FUZZ)
  get_property(fuzzers GLOBAL PROPERTY HOSTLER_FUZZERS)
  add_custom_target(fuzzers DEPENDS ${fuzzers})
endif()

# The shipped roles in the simulated world.
file(GLOB_RECURSE simulation_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/simulation/*.cpp)
set(simulation_tests ${simulation_sources})
list(FILTER simulation_tests INCLUDE REGEX "_test\\.cpp$")
list(FILTER simulation_sources EXCLUDE REGEX "(_test|swarm)\\.cpp$")
add_library(simulation STATIC ${simulation_sources})
target_precompile_headers(simulation REUSE_FROM master_headers_precompiled)
target_include_directories(simulation PUBLIC ${PROJECT_SOURCE_DIR}/tests/simulation)
target_link_libraries(simulation PUBLIC sim series sqlite sql master access agent gateway cli)
add_executable(simulation_test ${simulation_tests})
target_precompile_headers(simulation_test REUSE_FROM master_test_headers_precompiled)
target_link_libraries(simulation_test PRIVATE simulation master_test_headers GTest::gtest_main GTest::gmock)
# ./dev sim --swarm and --case.
add_executable(hostler-swarm tests/simulation/swarm.cpp)
target_precompile_headers(hostler-swarm REUSE_FROM master_headers_precompiled)
target_link_libraries(hostler-swarm PRIVATE simulation)
add_test(NAME simulation COMMAND simulation_test --gtest_brief=1)
set_tests_properties(simulation PROPERTIES LABELS simulation TIMEOUT 900)

# What their sources include takes longer to compile than they do themselves: several at once are one unit. Units of
# CMake's own name their sources by absolute paths, so that clones could not share what ccache keeps of them. Where a unit
# begins is in the names of the files, so that a new file changes one or two units and not all that follow.
# hostler_units(TARGET MEAN [ALONE...]): MEAN sources a unit, on average; those ALONE are units of their own.
function(hostler_units target mean)
  get_target_property(sources ${target} SOURCES)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/units/${target})
  math(EXPR most "2 * ${mean}")
  set(units "")
  set(unit "")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    string(MD5 hash ${path})
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR begins "0x${hash} % ${mean}")
    if(NOT unit OR begins EQUAL 0 OR included EQUAL most OR path IN_LIST ARGN)
      string(REPLACE "/" "-" unit ${path})
      list(APPEND units ${unit})
      set(text_${unit} "")
      set(included 0)
    endif()
    math(EXPR included "${included} + 1")
    file(RELATIVE_PATH path_of_unit ${folder} ${source})
    string(APPEND text_${unit} "#include \"${path_of_unit}\"\n")
    if(path IN_LIST ARGN)
      set(unit "")
    endif()
  endforeach()
  set(files "")
  foreach(unit ${units})
    file(CONFIGURE OUTPUT ${folder}/${unit} CONTENT "${text_${unit}}" @ONLY)
    list(APPEND files ${folder}/${unit})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${files})
endfunction()

hostler_units(master 6 src/roles/master/state/stored.cpp)
foreach(target master_test simulation simulation_test)
  if(TARGET ${target})
    hostler_units(${target} 6)
  endif()
endforeach()
foreach(target cli cli_test agent agent_test roles_test contract_test)
  if(TARGET ${target})
    hostler_units(${target} 4)
  endif()
endforeach()

# The few rules that carry the house.
file(GLOB tidy_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/tidy/*.cpp)
add_executable(tidy_test ${tidy_sources})
target_precompile_headers(tidy_test REUSE_FROM tests)
target_link_libraries(tidy_test PRIVATE api cli domain net GTest::gtest_main)
target_compile_definitions(tidy_test PRIVATE PROJECT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_test(NAME tidy COMMAND tidy_test --gtest_brief=1)
set_tests_properties(tidy PROPERTIES LABELS tidy TIMEOUT 60)

# A whole cloud of real processes and containers, as it is shipped. Needs root and podman.
file(GLOB cloud_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cloud/*.cpp)
add_executable(cloud_test ${cloud_sources})
target_precompile_headers(cloud_test REUSE_FROM tests)
target_link_libraries(cloud_test PRIVATE net docker sealed sqlite Boost::json GTest::gtest_main GTest::gmock)
target_compile_definitions(cloud_test PRIVATE HOSTLER="$<TARGET_FILE:hostler>" HOSTLER_RECORDED="${PROJECT_SOURCE_DIR}/tests/recorded"
                           HOSTLER_IDENTITY="${PROJECT_SOURCE_DIR}/tests/identity/provider.mjs" HOSTLER_FLOWS="${PROJECT_SOURCE_DIR}/tests/console/flow.mjs" HOSTLER_NODE_MODULES="${PROJECT_SOURCE_DIR}/build/node/node_modules")
add_dependencies(cloud_test hostler hostler-agent hostler-demo hostler-iptables simulated_nvml)
add_test(NAME cloud COMMAND cloud_test --gtest_brief=1)
hostler_units(cloud_test 4)
set_tests_properties(cloud PROPERTIES LABELS cloud TIMEOUT 600 RUN_SERIAL ON)

# A real Kubernetes under tests: a control plane, and nodes of namespaces. `./dev kubernetes` builds what it runs.
file(GLOB kubernetes_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/kubernetes/*.cpp)
set(kubernetes_tests ${kubernetes_sources})
list(FILTER kubernetes_sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER kubernetes_tests INCLUDE REGEX "_test\\.cpp$")
add_library(test_kubernetes STATIC ${kubernetes_sources})
target_precompile_headers(test_kubernetes REUSE_FROM tests)
target_link_libraries(test_kubernetes PUBLIC core domain Boost::json GTest::gtest PRIVATE tomlplusplus::tomlplusplus)
target_compile_definitions(test_kubernetes PUBLIC HOSTLER_SOURCE="${PROJECT_SOURCE_DIR}" PRIVATE HOSTLER="$<TARGET_FILE:hostler>" HOSTLER_AGENT="$<TARGET_FILE:hostler-agent>")
add_executable(kubernetes_test ${kubernetes_tests})
target_precompile_headers(kubernetes_test REUSE_FROM tests)
target_link_libraries(kubernetes_test PRIVATE test_kubernetes kubernetes_client net Boost::json GTest::gtest_main GTest::gmock)
add_dependencies(kubernetes_test hostler hostler-agent)
add_test(NAME kubernetes COMMAND kubernetes_test --gtest_brief=1)
set_tests_properties(kubernetes PROPERTIES LABELS kubernetes TIMEOUT 1800 RUN_SERIAL ON)
# ./dev bench cluster: the same machines, by Hostler and by kubeadm.
add_executable(bench-cluster bench/cluster/main.cpp)
target_precompile_headers(bench-cluster REUSE_FROM core)
target_include_directories(bench-cluster PRIVATE tests/kubernetes)
target_link_libraries(bench-cluster PRIVATE test_kubernetes CLI11::CLI11)
add_dependencies(bench-cluster hostler hostler-agent)
