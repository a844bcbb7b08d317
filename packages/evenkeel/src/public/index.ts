/**
 * `evenkeel`: what most programs need. Declare a kind, declare a controller, run it.
 *
 * Subpaths have the rest: `evenkeel/client`, `evenkeel/controller`, `evenkeel/server`, `evenkeel/testing`,
 * `evenkeel/verbs`, `evenkeel/webhook`, and the built-in kinds under `evenkeel/kinds/GROUP/VERSION`.
 */
export {
  addFinalizer,
  ApiError,
  crdOf,
  defineKind,
  findCondition,
  getControllerOf,
  hasFinalizer,
  isAlreadyExists,
  isConditionTrue,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isOwnedBy,
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
  type TypeMeta,
} from '#api'
export type { Client } from '#client'
export type { ControllerDeclaration, ReconcileContext, ReconcileResult } from '#controller'
export { defineController } from '#manager'
export { run, runControllers, type Ready, type RunOptions, type RunProgramOptions } from '#plane'
export { action, dependsOn, external, revisions, type Driver } from '#verbs'
