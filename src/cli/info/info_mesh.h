// SPDX-License-Identifier: Apache-2.0
// `cairn info` of a mesh file.
#ifndef CNI_CLI_INFO_MESH_H
#define CNI_CLI_INFO_MESH_H

#include "cli/cli.h"

int cni_info_mesh(const CniArgs *args, const char *path);

#endif
