// SPDX-License-Identifier: Apache-2.0
// cairn-mpi starts its processes itself where it is asked to: `cairn-mpi -n 4 run ...`.
#ifndef CNI_MPI_LAUNCH_H
#define CNI_MPI_LAUNCH_H

// Start the processes and wait for them; argv[1] is -n, argv[2] how many. The exit status.
int cni_launch(int argc, char **argv);

// Of every process, before MPI begins: it is there. Of rank 0: standard output and error become the launcher's, if
// there is one. Of every process: it ends, with this status.
void cni_voice_come(void);
void cni_voice_speak(void);
void cni_voice_end(int status);

#endif
