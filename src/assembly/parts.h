// What the files of assembly share with each other and with nobody else.
#ifndef CNI_ASSEMBLY_PARTS_H
#define CNI_ASSEMBLY_PARTS_H

#include "assembly/assembly.h"

// Sets already in the problem, found by value: blocks with one law share one set. Open addressing;
// the memory is the arena's.
typedef struct CniSetTable {
  CnProblem *problem;
  CniArena *arena;
  int32_t *slots; // set index, -1: free
  int32_t capacity;
} CniSetTable;

CnStatus cni_set_table_init(CniSetTable *table, CnProblem *problem, CniArena *arena);
// Index of a set equal to this one, added if there is none.
CnStatus cni_set_table_find(CniSetTable *table, const CnSet *set, int32_t *index);

// Group i from body i, and the ground after them. Room must be there.
void cni_assemble_groups(const CniAssemblyInput *input, CnProblem *problem);

// Blocks of all joints. Room for joint_count blocks and pairs and three rows each must be there.
CnStatus cni_assemble_joints(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                             int32_t *block_of);
// Their impulses of the last step, scaled to this step, into g.
void cni_warm_start_joints(const CniAssemblyInput *input, const CnProblem *problem,
                           const int32_t *block_of, double *g);

// The two anchors of a joint: fills both lever arms (zero on the ground, which does not turn) and
// returns anchor b minus anchor a.
CnVec3 cni_joint_anchors(const CnPose *pose, const CniJoint *joint, CniJointRows *rows);

#define CN_JOINT(KIND, name, dim)                                                                  \
  void cni_joint_##name##_rows(const CniModel *model, const CnPose *pose, const CniJoint *joint,   \
                               CniJointRows *rows);
#include "assembly/joint_list.inc"
#undef CN_JOINT

// Blocks of all contacts. Room for contact_count blocks must be there; the rest is reserved here.
CnStatus cni_assemble_contacts(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                               int32_t *block_of);
void cni_warm_start_contacts(const CniAssemblyInput *input, const CnProblem *problem,
                             const int32_t *block_of, double *g);

// Can an impulse move the group? A block between two that it cannot move is none.
static inline int cni_group_has_mass(const CniGroup *group) {
  return group->mass_kind != CNI_MASS_NONE;
}

// Append a block header after those that are there; room must be there. The counts of rows and of
// the storage are the caller's.
static inline int32_t cni_append_block(CnProblem *problem, CniStorage storage, int32_t index,
                                       int32_t row, int32_t set, int32_t dim) {
  int32_t block = problem->block_count++;
  problem->blocks[block] = (CniBlock){.row = row,
                                      .set = set,
                                      .index = index,
                                      .storage = (uint8_t)storage,
                                      .dim = (uint8_t)dim,
                                      .kind = (uint8_t)problem->sets[set].kind};
  return block;
}

#endif
