// SPDX-License-Identifier: Apache-2.0
// cairn-mpi starts its processes itself where it is asked to: `cairn-mpi -n 4 run ...`.
#ifndef CNI_MPI_LAUNCH_H
#define CNI_MPI_LAUNCH_H

// Start the processes and wait for them; argv[1] is -n, argv[2] how many. The exit status.
int cni_launch(int argc, char **argv);

// Of rank 0: standard output and error become the launcher's, if there is one; and the status with which it ends.
void cni_voice_take(void);
void cni_voice_end(int status);

#endif
