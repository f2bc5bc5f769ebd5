// SPDX-License-Identifier: Apache-2.0
// Tables of what was recorded of forces: contacts.csv and reactions.csv (export_csv.c).
#include "io/exports/csv_private.h"

static CnStatus frame_time(CnRun *run, int64_t frame, double *time) {
  return cn_run_frame(run, frame, time, NULL, NULL);
}

static CnStatus put_contacts_of(CnRun *run, CniOutput *out, int64_t frame) {
  int32_t count = 0;
  double time;
  CNI_TRY(frame_time(run, frame, &time));
  CNI_TRY(cn_run_contacts(run, frame, NULL, 0, &count));
  size_t bytes = ((size_t)count + 1) * sizeof(CnRunContact);
  CnRunContact *contacts = cni_allocate(&run->allocator, bytes);
  if (!contacts) return cni_error_memory(bytes);
  CnStatus status = cn_run_contacts(run, frame, contacts, count, &count);
  for (int32_t i = 0; i < count && status == CN_OK; i++) {
    const CnRunContact *c = &contacts[i];
    const double values[] = {c->point.x,  c->point.y,  c->point.z, c->normal.x, c->normal.y,
                             c->normal.z, c->gap,      c->force.x, c->force.y,  c->force.z,
                             c->torque.x, c->torque.y, c->torque.z};
    cni_output_text(out, "%lld,", (long long)frame);
    cni_output_number(out, time);
    cni_output_text(out, ",%d,%d,%d,%d", (int)c->body_a, (int)c->body_b, (int)c->shape_a,
                    (int)c->shape_b);
    cni_csv_numbers(out, values, sizeof values / sizeof values[0]);
    cni_output_bytes(out, "\n", 1);
  }
  cni_release(&run->allocator, contacts, bytes);
  return status;
}

CnStatus cni_csv_contacts(CnRun *run, CniOutput *out) {
  cni_output_text(out, "frame,time [s],body_a,body_b,shape_a,shape_b,x [m],y [m],z [m],nx,ny,nz,"
                       "gap [m],fx [N],fy [N],fz [N],tx [N m],ty [N m],tz [N m]\n");
  for (int64_t f = 0; f < run->info.frame_count; f++) CNI_TRY(put_contacts_of(run, out, f));
  return CN_OK;
}

// A line a coordinate; one for a joint without any.
static void put_joint(CniOutput *out, int64_t frame, double time, int32_t index,
                      const CnRunJoint *joint, const CnJointState *s) {
  const double values[] = {s->force.x,  s->force.y,  s->force.z, s->torque.x,
                           s->torque.y, s->torque.z, s->error,   s->turn_error};
  int32_t lines = s->coordinate_count > 0 ? s->coordinate_count : 1;
  for (int32_t k = 0; k < lines; k++) {
    cni_output_text(out, "%lld,", (long long)frame);
    cni_output_number(out, time);
    cni_output_text(out, ",%d,", (int)index);
    cni_csv_field(out, joint->name);
    cni_csv_numbers(out, values, sizeof values / sizeof values[0]);
    if (k < s->coordinate_count) {
      const double own[] = {s->coordinate[k], s->rate[k],     s->motor[k],
                            s->limit[k],      s->friction[k], s->spring[k]};
      cni_output_text(out, ",%s", cn_joint_coordinate_name(joint->kind, k));
      cni_csv_numbers(out, own, sizeof own / sizeof own[0]);
    } else {
      cni_output_text(out, ",,,,,,,");
    }
    cni_output_bytes(out, "\n", 1);
  }
}

CnStatus cni_csv_reactions(CnRun *run, CniOutput *out) {
  size_t bytes = ((size_t)run->info.joint_count + 1) * sizeof(CnJointState);
  cni_output_text(out,
                  "frame,time [s],joint,name,fx [N],fy [N],fz [N],tx [N m],ty [N m],tz [N m],"
                  "error [m],turn_error [rad],coordinate,value,rate,motor,limit,friction,spring\n");
  CnJointState *states = cni_allocate(&run->allocator, bytes);
  if (!states) return cni_error_memory(bytes);
  CnStatus status = CN_OK;
  for (int64_t f = 0; f < run->info.frame_count && status == CN_OK; f++) {
    double time = 0;
    status = frame_time(run, f, &time);
    if (status == CN_OK) status = cn_run_joint_states(run, f, states);
    for (int32_t i = 0; i < run->info.joint_count && status == CN_OK; i++)
      put_joint(out, f, time, i, &run->joints[i], &states[i]);
  }
  cni_release(&run->allocator, states, bytes);
  return status;
}
