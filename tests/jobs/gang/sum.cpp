// A rank of MPI: two sums over all ranks, one of them of what each rank has sent to each. With `wait` it
// stays until it is killed.
//
// What mpi.h of Open MPI 4 says of these few names, so that a test needs no packages of headers.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

extern "C" {
extern char ompi_mpi_comm_world[], ompi_mpi_int[], ompi_mpi_op_sum[];
int MPI_Init(int* count, char*** words);
int MPI_Comm_rank(void* group, int* rank);
int MPI_Comm_size(void* group, int* size);
int MPI_Allreduce(const void* from, void* to, int count, void* type, void* operation, void* group);
int MPI_Alltoall(const void* from, int count, void* type, void* to, int to_count, void* to_type, void* group);
int MPI_Finalize();
}

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank = -1, size = 0, sum = 0;
    MPI_Comm_rank(ompi_mpi_comm_world, &rank);
    MPI_Comm_size(ompi_mpi_comm_world, &size);
    const int mine = 1 << (4 * rank);
    MPI_Allreduce(&mine, &sum, 1, ompi_mpi_int, ompi_mpi_op_sum, ompi_mpi_comm_world);
    const auto ranks = static_cast<std::size_t>(size);
    std::vector<int> sent(ranks, mine), received(ranks);
    MPI_Alltoall(sent.data(), 1, ompi_mpi_int, received.data(), 1, ompi_mpi_int, ompi_mpi_comm_world);
    const int of_each = std::accumulate(received.begin(), received.end(), 0);
    std::printf("rank %d of %d in task %s: %x %x\n", rank, size, std::getenv("HOSTLER_TASK_RANK"), sum,
                of_each);
    std::fflush(stdout);
    if (count > 1 && std::strcmp(words[1], "wait") == 0) pause();
    MPI_Finalize();
    return 0;
}
