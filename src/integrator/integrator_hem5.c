// SPDX-License-Identifier: Apache-2.0
// hem5: the event driver (drive.c) with steps of hem5.c.
#include "integrator/drive.h"

static CnStatus create(const CnIntegratorDef *def, const CnAllocator *allocator, void **state) {
  CniDrive *drive;
  CnStatus status = cni_drive_create(def, allocator, &cni_stepper_hem5, &drive);
  if (status == CN_OK) *state = drive;
  return status;
}

const CnIntegratorKind cni_integrator_hem5 = {
    .name = "hem5",
    .summary = "half-explicit Runge-Kutta of order 5 (index 2) between located events, adaptive",
    .needs_equations = 1,
    .create = create,
    .step = cni_drive_step,
    .destroy = cni_drive_free,
    .attach = cni_drive_attach,
    .report = cni_drive_report,
    .dense = cni_drive_dense,
    .observe = cni_drive_observe,
};
