/**
 * The objects that readers and the builder make: one function per kind, so that a change of a kind is a change of this file.
 */
import type { ObjectNames, WorkloadObject } from './finding.ts'

export const workloadsVersion = 'workloads.evenkeel.dev/v1'

/** The kinds that a session starts and stops, most common first: names on a command line are looked up in this order. */
export const workloadKinds = ['Process', 'ProcessSet', 'Task', 'Schedule', 'Container', 'Service'] as const
export type WorkloadKind = (typeof workloadKinds)[number]

type Spec = Readonly<Record<string, unknown>>

export function workloadObject(
  kind: WorkloadKind | 'ContainerNetwork' | 'ContainerVolume',
  metadata: ObjectNames,
  spec: Spec,
): WorkloadObject {
  return { apiVersion: workloadsVersion, kind, metadata, spec: withoutEmpty(spec) }
}

/** Several copies of a process. One that does not run by itself has none. */
export function processSet(metadata: ObjectNames, replicas: number, { running, ...template }: Spec): WorkloadObject {
  const labels = { ...metadata.labels, [nameLabel]: metadata.name }
  return workloadObject('ProcessSet', metadata, {
    replicas: running === false ? 0 : replicas,
    template: { metadata: { labels }, spec: withoutEmpty(template) },
  })
}

/** A label by which a Service finds what a file or a module describes. */
export const nameLabel = 'app.kubernetes.io/name'

/** A program that runs to its end. */
export function task(metadata: ObjectNames, program: Spec, fields: Spec = {}): WorkloadObject {
  return workloadObject('Task', metadata, { ...fields, ...taskSpecOf(program) })
}

/** A task that is made at certain times. */
export function schedule(
  metadata: ObjectNames,
  { schedule: when, timeZone }: { readonly schedule: string; readonly timeZone?: string | undefined },
  program: Spec,
): WorkloadObject {
  return workloadObject('Schedule', metadata, {
    schedule: when,
    timeZone,
    ...(program['running'] === false && { suspend: true }),
    template: { spec: taskSpecOf(program) },
  })
}

/** A task has its own way to try again, and nothing waits for it to be ready. */
function taskSpecOf({ running: _running, restart: _restart, probes, ...program }: Spec): Spec {
  const { readiness: _readiness, ...others } = (probes ?? {}) as Spec
  return { template: { spec: withoutEmpty({ ...program, probes: others }) } }
}

/** Without fields that say nothing. */
function withoutEmpty(fields: Spec): Spec {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined &&
        !(Array.isArray(value) && value.length === 0) &&
        !(typeof value === 'object' && value !== null && Object.keys(value).length === 0),
    ),
  )
}

/** A name that objects can have: `My_App` is `my-app`. Undefined when nothing is left of it. */
export function objectName(text: string): string | undefined {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .slice(0, 63)
  return name === '' ? undefined : name
}
