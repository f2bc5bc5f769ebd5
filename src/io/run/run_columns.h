// SPDX-License-Identifier: Apache-2.0
// The growing datasets of a run file, one row each, in the order of the file: name, path, unit, what it
// is, and how it is made (the macros of run_columns.c): the number in the file and the field of the
// struct that a row of its kind is.

COLUMN(TIME, "/steps/time", "s", "at the end of the step", STEP(DOUBLE, report.time))
COLUMN(KINETIC_ENERGY, "/steps/kinetic_energy", "J", "of all bodies",
       STEP(DOUBLE, sums.kinetic_energy))
COLUMN(POTENTIAL_ENERGY, "/steps/potential_energy", "J", "of gravity, zero at the origin",
       STEP(DOUBLE, sums.potential_energy))
COLUMN(CONTACTS, "/steps/contacts", "1", "contact blocks, potential ones included",
       STEP(INT32, report.contact_count))
COLUMN(OVERLAPS, "/steps/overlaps", "1", "pairs of shapes with a negative gap; NaN between frames",
       STEP(DOUBLE, overlaps))
COLUMN(PENETRATION_MAX, "/steps/penetration_max", "m", "deepest overlap; NaN between frames",
       STEP(DOUBLE, penetration.max))
COLUMN(PENETRATION_MEAN, "/steps/penetration_mean", "m",
       "mean over overlapping pairs; NaN between frames", STEP(DOUBLE, penetration.mean))
COLUMN(RESIDUAL, "/steps/residual", "1", "of the certificate; NaN: no step problem",
       STEP(DOUBLE, report.solve.certificate.residual))
COLUMN(RESIDUAL_SPEED, "/steps/residual_speed", "m/s", "of the certificate",
       STEP(DOUBLE, report.solve.certificate.residual_speed))
COLUMN(DISSIPATION, "/steps/dissipation", "J", "taken out by constraints in the step",
       STEP(DOUBLE, report.solve.certificate.dissipation))
COLUMN(ITERATIONS, "/steps/iterations", "1", "of the solver", STEP(INT32, report.solve.iterations))
COLUMN(CONVERGED, "/steps/converged", "1",
       "1: the residual met the tolerance; 255: no step problem",
       STEP(UINT8, report.solve.converged))
COLUMN(CUT_BY_TIME, "/steps/cut_by_time", "1", "1: the time budget ended the solve",
       STEP(UINT8, report.solve.cut_by_time))
COLUMN(SECONDS_COLLISION, "/steps/seconds_collision", "s", "poses to contacts",
       STEP(DOUBLE, report.seconds_collision))
COLUMN(SECONDS_SOLVER, "/steps/seconds_solver", "s", "the rest of the step",
       STEP(DOUBLE, report.seconds_solver))
COLUMN(SECONDS_SETUP, "/steps/seconds_setup", "s", "part of seconds_solver outside the sweeps",
       STEP(DOUBLE, report.seconds_setup))
COLUMN(POSITION_DRIFT, "/steps/position_drift", "m",
       "of active constraints; NaN: not measured (impulse)",
       ADDED_STEP(DOUBLE, report.integration.position_drift))
COLUMN(VELOCITY_DRIFT, "/steps/velocity_drift", "m/s",
       "of active constraints; NaN: not measured (impulse)",
       ADDED_STEP(DOUBLE, report.integration.velocity_drift))
COLUMN(REJECTED, "/steps/rejected", "1", "steps of hem5 and rkf45 made again",
       ADDED_STEP(INT32, report.integration.rejected))
COLUMN(WORK_GRAVITY, "/steps/work_gravity", "J",
       "of the weights along the way; NaN: no balance was kept",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_GRAVITY].energy))
COLUMN(WORK_LOADS, "/steps/work_loads", "J", "of forces applied and loads of force elements",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_LOADS].energy))
COLUMN(WORK_SPRINGS, "/steps/work_springs", "J", "of springs and dampers",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_SPRINGS].energy))
COLUMN(WORK_DRIVES, "/steps/work_drives", "J", "of motors",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_DRIVES].energy))
COLUMN(WORK_JOINTS, "/steps/work_joints", "J", "of locked directions",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_JOINTS].energy))
COLUMN(WORK_FRICTION, "/steps/work_friction", "J", "of friction",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_FRICTION].energy))
COLUMN(WORK_IMPACTS, "/steps/work_impacts", "J", "of normals that closed, limits of joints",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_IMPACTS].energy))
COLUMN(WORK_STABILISATION, "/steps/work_stabilisation", "J", "of the other normals",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_STABILISATION].energy))
COLUMN(WORK_SCHEME, "/steps/work_scheme", "J", "of the time step",
       ADDED_STEP(DOUBLE, balance.parts[CN_BALANCE_SCHEME].energy))
COLUMN(BALANCE, "/steps/balance", "J", "change of the kinetic energy less all work: round-off",
       ADDED_STEP(DOUBLE, balance.residual.energy))
COLUMN(SENSORS, "/sensors/values", "", "one column a sensor", WIDE(STEPS, SENSOR, 0))
COLUMN(EVENTS_END, "/events/end_of_step", "1", "number of events up to and including the step",
       STEP(INT64, events_end))
COLUMN(FRAME_TIME, "/frames/time", "s", "", FRAME(DOUBLE, time))
COLUMN(FRAME_STEP, "/frames/step", "1", "number of steps made so far", FRAME(INT64, step))
COLUMN(POSITION, "/frames/position", "m", "of the body frames", WIDE(FRAMES, BODY, 3))
COLUMN(ROTATION, "/frames/rotation", "1", "unit quaternions w, x, y, z", WIDE(FRAMES, BODY, 4))
COLUMN(VELOCITY, "/frames/velocity", "m/s", "of the origins of the body frames, world axes",
       WIDE(FRAMES, BODY, 3))
COLUMN(SPIN, "/frames/spin", "rad/s", "world axes", WIDE(FRAMES, BODY, 3))
COLUMN(JOINT_FORCE, "/reactions/force", "N",
       "on body b at its frame's origin, mean over the last step", JOINT(JOINT, 3, force))
COLUMN(JOINT_ERROR, "/reactions/error", "m", "how far the joint is from closed",
       JOINT(JOINT, 0, error))
COLUMN(JOINT_TORQUE, "/reactions/torque", "N m", "likewise", JOINT(JOINT, 3, torque))
COLUMN(JOINT_TURN_ERROR, "/reactions/turn_error", "rad", "how far the joint is turned out of place",
       JOINT(JOINT, 0, turn_error))
COLUMN(JOINT_LOCAL_FORCE, "/reactions/local_force", "N", "the force in the axes of frame a",
       JOINT(JOINT, 3, local_force))
COLUMN(JOINT_LOCAL_TORQUE, "/reactions/local_torque", "N m", "the torque in the axes of frame a",
       JOINT(JOINT, 3, local_torque))
COLUMN(JOINT_COORDINATE, "/reactions/coordinate", "m or rad", "coordinates of joints",
       JOINT(COORDINATE, 0, coordinate))
COLUMN(JOINT_RATE, "/reactions/rate", "m/s or rad/s", "of the coordinates",
       JOINT(COORDINATE, 0, rate))
COLUMN(JOINT_MOTOR, "/reactions/motor", "N or N m", "effort of the motor",
       JOINT(COORDINATE, 0, motor))
COLUMN(JOINT_LIMIT, "/reactions/limit", "N or N m", "effort of the limits",
       JOINT(COORDINATE, 0, limit))
COLUMN(JOINT_FRICTION, "/reactions/friction", "N or N m", "effort of dry friction",
       JOINT(COORDINATE, 0, friction))
COLUMN(JOINT_SPRING, "/reactions/spring", "N or N m", "effort of spring and damper",
       JOINT(COORDINATE, 0, spring))
COLUMN(COUPLING_EFFORT, "/reactions/coupling_effort", "",
       "times a coefficient it is what the coordinate gets, N or N m", COUPLING(effort))
COLUMN(COUPLING_ERROR, "/reactions/coupling_error", "", "how far the relation is off",
       COUPLING(error))
COLUMN(CONTACTS_END, "/contacts/end_of_frame", "1",
       "number of contacts up to and including the frame", FRAME(INT64, contacts_end))
COLUMN(CONTACT_BODY_A, "/contacts/body_a", "1", "index in /bodies", CONTACT(INT32, body_a, 0))
COLUMN(CONTACT_BODY_B, "/contacts/body_b", "1", "index in /bodies", CONTACT(INT32, body_b, 0))
COLUMN(CONTACT_SHAPE_A, "/contacts/shape_a", "1", "index in /shapes", CONTACT(INT32, shape_a, 0))
COLUMN(CONTACT_SHAPE_B, "/contacts/shape_b", "1", "index in /shapes", CONTACT(INT32, shape_b, 0))
COLUMN(CONTACT_POINT, "/contacts/point", "m", "at the start of the step", CONTACT(DOUBLE, point, 3))
COLUMN(CONTACT_NORMAL, "/contacts/normal", "1", "unit, from a to b", CONTACT(DOUBLE, normal, 3))
COLUMN(CONTACT_GAP, "/contacts/gap", "m", "at the start of the step", CONTACT(DOUBLE, gap, 0))
COLUMN(CONTACT_FORCE, "/contacts/force", "N", "on b, world axes", CONTACT(DOUBLE, force, 3))
COLUMN(CONTACT_TORQUE, "/contacts/torque", "N m", "rolling and spinning resistance on b",
       CONTACT(DOUBLE, torque, 3))
COLUMN(EVENT_STEP, "/events/step", "1", "number of the step", EVENT(INT64, step))
COLUMN(EVENT_KIND, "/events/kind", "1",
       "0: contact began, 1: contact ended, 2 + k: located event of kind k, 100: trigger entered, "
       "101: trigger left",
       EVENT(UINT8, kind))
COLUMN(EVENT_SHAPE_A, "/events/shape_a", "1", "index in /shapes", EVENT(INT32, shape_a))
COLUMN(EVENT_SHAPE_B, "/events/shape_b", "1", "index in /shapes", EVENT(INT32, shape_b))
COLUMN(EVENT_TIME, "/events/time", "s", "located events: when; others: end of the step",
       EVENT(DOUBLE, time))
COLUMN(EVENT_SPEED, "/events/speed", "m/s", "before it, along the normal; NaN: unknown",
       EVENT(DOUBLE, speed))
COLUMN(EVENT_IMPULSE, "/events/impulse", "N s", "along the normal; NaN: unknown",
       EVENT(DOUBLE, impulse))
