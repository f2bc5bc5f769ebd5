// SPDX-License-Identifier: Apache-2.0
// What slips at one instant, for the motion (drive.h).
#include "integrator/events/drive.h"

static int any_slips(const CniDrive *d, int32_t contact) {
  int any = 0;
  for (int32_t k = 0; k < CNI_PARTS; k++) any |= d->modes[contact].parts[k].slips;
  return any && d->modes[contact].closed;
}

// Places of the normals among the n active rows, and what slips. Where something does, it matters which
// contact carries how much: one whose normal depends on others is given its force of the friction
// problem, and its friction with it.
int32_t cni_modes_list_slips(CniDrive *d, int32_t n) {
  const CnEquations *eq = d->motion.eq;
  int32_t count = 0, all = cni_drive_count(d), slides = 0;
  d->given = 0;
  for (int32_t i = 0; i < all; i++) d->modes[i].place = -1;
  for (int32_t i = 0; i < eq->contact_count; i++) slides |= any_slips(d, i);
  for (int32_t i = 0; i < n; i++)
    if (d->rows[i] >= eq->bilateral_count && cni_row_gap(eq, d->rows[i]) >= 0 &&
        cni_row_contact(eq, d->rows[i]) < eq->contact_count)
      d->modes[cni_row_contact(eq, d->rows[i])].place = i;
  for (int32_t i = 0; i < all; i++) {
    const CniContactMode *mode = &d->modes[i];
    int given = slides && mode->closed && mode->place < 0 && i < eq->contact_count;
    if (given)
      d->slip[count++] = (CniSlip){.normal = -1,
                                   .row = cni_normal_row(eq, i),
                                   .count = 1,
                                   .owner = i,
                                   .part = -1,
                                   .friction = mode->load,
                                   .start = {-1, 0}};
    d->given += given;
    for (int32_t part = 0; part < CNI_PARTS; part++) {
      CniPartRows rows = cni_part_rows(d, i, part);
      CniContactPart *own = &d->modes[i].parts[part];
      own->slip = -1;
      if (!own->slips || rows.count == 0 || !mode->closed) continue;
      own->slip = count;
      d->slip[count++] = (CniSlip){.normal = mode->place,
                                   .row = rows.row,
                                   .count = rows.count,
                                   .owner = i,
                                   .part = part,
                                   .friction = rows.friction * (given ? mode->load : 1),
                                   .start = {own->direction[0], own->direction[1]}};
    }
  }
  return count;
}
