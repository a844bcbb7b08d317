/**
 * The names most people need, listed by hand. Everything else has a subpath: `evenkeel/api`, `evenkeel/unstable/store`, …
 */
export {
  addFinalizer,
  ApiError,
  createMergePatch,
  defineKind,
  findCondition,
  formatKey,
  getControllerOf,
  hasFinalizer,
  isAlreadyExists,
  isConditionTrue,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isOwnedBy,
  keyOf,
  removeFinalizer,
  setCondition,
  setControllerReference,
  setOwnerReference,
} from '#api'
export type {
  Condition,
  InputOf,
  Kind,
  KubeObject,
  ObjectKey,
  ObjectMeta,
  ObjectOf,
  OwnerReference,
  Reason,
  Stored,
} from '#api'
export type { Client } from '#client'
export type { ControllerDeclaration, ReconcileContext, ReconcileResult } from '#controller'
export { loadPlaneControllers, run, runControllers, startPlane } from '#plane'
export type {
  LoadedControllers,
  Plane,
  PlaneControllers,
  PlaneOptions,
  Ready,
  RunOptions,
  RunProcess,
  RunProgramOptions,
} from '#plane'
export { action, dependsOn, external, revisions } from '#verbs'
export type { Driver } from '#verbs'
