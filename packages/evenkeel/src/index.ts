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
  type Condition,
  type InputOf,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  type ObjectOf,
  type OwnerReference,
  type Reason,
  type Stored,
} from '#api'
export type { Client } from '#client'
export type { ControllerDeclaration, ReconcileContext, ReconcileResult } from '#controller'
export {
  loadPlaneControllers,
  run,
  runControllers,
  startPlane,
  type LoadedControllers,
  type Plane,
  type PlaneControllers,
  type PlaneOptions,
  type Ready,
  type RunOptions,
  type RunProcess,
  type RunProgramOptions,
} from '#plane'
export { action, dependsOn, external, revisions, type Driver } from '#verbs'
