/**
 * Every kubectl session, the long ones first: the short ones fill the remaining time.
 */
import type { Session } from '../session.ts'
import { apply, applyServerSide, applyWorkloads, replace } from './apply.ts'
import { edit, label, nodes, patch } from './change.ts'
import { createServices, createWorkloads, runPods } from './create-workloads.ts'
import { customConflicts, customMigration } from './custom-apply.ts'
import { customBig, customExplained, customResources } from './custom.ts'
import { create, createAccess } from './create.ts'
import { cascade, remove } from './delete.ts'
import { describeObjects, describeWorkloads } from './describe.ts'
import { access, discovery, explain } from './discovery.ts'
import { refusals, validation } from './errors.ts'
import { output, selection } from './get.ts'
import { identity } from './identity.ts'
import { podLogs } from './logs.ts'
import { permission, reconcile } from './permission.ts'
import { events, wait, watch } from './watch.ts'
import { cascades, namespaceEnd } from './controllers.ts'
import { rollout, scale, set } from './workloads.ts'

export const kubectlSessions: readonly Session[] = [
  customResources,
  customExplained,
  customBig,
  customConflicts,
  customMigration,
  refusals,
  patch,
  output,
  wait,
  create,
  remove,
  cascade,
  apply,
  applyServerSide,
  replace,
  label,
  set,
  selection,
  watch,
  scale,
  createAccess,
  discovery,
  rollout,
  createWorkloads,
  describeObjects,
  runPods,
  createServices,
  applyWorkloads,
  explain,
  describeWorkloads,
  nodes,
  events,
  edit,
  validation,
  access,
  permission,
  reconcile,
  identity,
]

/** Sessions that wait for controllers, or for the log of the program. */
export const controllerSessions: readonly Session[] = [cascades, namespaceEnd, podLogs]
