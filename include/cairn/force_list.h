// SPDX-License-Identifier: Apache-2.0
// The kinds of forces, one a line: CN_FORCE(NAME, name) makes CN_FORCE_NAME and stands for the file
// src/force/force_name.c. Included where the list is needed, again and again; the order is the
// number of a kind in the interface: add at the end.
CN_FORCE(SPRING, spring)
CN_FORCE(DRAG, drag)
CN_FORCE(CONSTANT, constant)
CN_FORCE(USER, user)
CN_FORCE(TORSION, torsion)
CN_FORCE(BUSHING, bushing)
CN_FORCE(ATTRACTION, attraction)
