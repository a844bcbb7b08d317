/**
 * An application as a TypeScript module, with references that the compiler checks.
 *
 *   export const app = defineApp(({ process, task }) => {
 *     const db = process('db', { command: ['postgres'], ports: [{ name: 'sql', env: 'PGPORT' }] })
 *     const migrate = task('migrate', { command: ['npm', 'run', 'migrate'], dependsOn: [db] })
 *     process('api', { command: ['node', 'api.js'], dependsOn: [db, migrate], env: { MODE: 'development' } })
 *   })
 *
 * A reference waits for what is usual: a process that is ready, a task that has completed; `db.started` and `db.completed` are
 * others. The result is plain objects: what a file could say as well.
 */
import type { InputOf } from 'evenkeel'
import type { Process } from '../process-kind.ts'
import type { ObjectNames, WorkloadObject } from './finding.ts'
import { nameLabel, processSet, schedule, task as taskObject, workloadObject, type WorkloadKind } from './shapes.ts'

type ProcessSpec = InputOf<typeof Process>['spec']

/** What a process waits for. */
export interface Reference {
  readonly kind: WorkloadKind
  readonly name: string
  readonly until: 'Started' | 'Ready' | 'Completed'
}

/** An object of an application, for `dependsOn` of others. */
export interface WorkloadReference extends Reference {
  readonly started: Reference
  readonly ready: Reference
  readonly completed: Reference
}

/** The address of a service as the value of a variable. */
export interface AddressValue {
  readonly valueFrom: { readonly service: { readonly name: string; readonly field: 'url' | 'host' | 'port' } }
}

export interface ServiceReference extends WorkloadReference {
  /** Its address in a variable: `env: { DATABASE_URL: database.url }`. */
  readonly url: AddressValue
  readonly host: AddressValue
  readonly port: AddressValue
}

/** What every object may have beside its spec. */
interface Described {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** @default that of the command line */
  readonly namespace?: string
}

type Variables = Readonly<Record<string, string | number | boolean | AddressValue>>

interface Wiring {
  /** By name; numbers and truth values are written as text. */
  readonly env?: Variables
  readonly dependsOn?: readonly Reference[]
}

/** The spec of a Process, with variables by name and references. */
export interface ProcessInput extends Omit<NonNullable<ProcessSpec>, 'env' | 'dependsOn'>, Wiring, Described {
  /** More than one makes a ProcessSet. @default 1 */
  readonly replicas?: number
}

/** A program that runs to its end. */
export interface TaskInput extends Omit<ProcessInput, 'replicas' | 'restart' | 'running' | 'lifetime' | 'owner'> {
  /** How often it is tried again. */
  readonly retries?: number
  /** Cron: runs at these times instead of once. */
  readonly schedule?: string
  /** Of the schedule. @default that of the machine */
  readonly timeZone?: string
}

export interface ServiceInput extends Described {
  /** The process whose port it is. */
  readonly target: WorkloadReference
  /** The name of the port of the process. */
  readonly targetPort: string
  /** The scheme of its address. @default the name of the port if that is `http` or `https`, else `tcp` */
  readonly appProtocol?: string
  /** @default any */
  readonly port?: number
}

export interface ContainerInput extends Described, Wiring {
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile?: string; readonly target?: string }
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number; readonly hostPort?: number }[]
  /** Each a `volume` (a ContainerVolume) or a `bind` (a path of this machine). */
  readonly volumeMounts?: readonly {
    readonly volume?: string
    readonly bind?: string
    readonly target: string
    readonly readOnly?: boolean
  }[]
}

/** What the function of `defineApp` receives. */
export interface AppBuilder {
  process(name: string, input: ProcessInput): WorkloadReference
  task(name: string, input: TaskInput): WorkloadReference
  service(name: string, input: ServiceInput): ServiceReference
  container(name: string, input: ContainerInput): WorkloadReference
  /** An object of any other kind. */
  object(object: WorkloadObject): void
}

/** The objects of an application. */
export interface Application {
  readonly objects: readonly WorkloadObject[]
}

/**
 * Describes an application in a module for `evenkeel run`.
 *
 * @example
 * export const app = defineApp(({ process }) => {
 *   const db = process('db', { command: ['postgres'] })
 *   process('api', { command: ['node', 'api.js'], dependsOn: [db], env: { PORT: 8080 } })
 * })
 */
export function defineApp(describe: (builder: AppBuilder) => void): Application {
  const objects: WorkloadObject[] = []
  describe(builderFor(objects))
  return { objects }
}

function builderFor(objects: WorkloadObject[]): AppBuilder {
  const add = (object: WorkloadObject): void => {
    const { kind, metadata } = object
    if (objects.some((one) => one.kind === kind && one.metadata.name === metadata.name))
      throw new RangeError(`${kind} ${metadata.name} is there twice: rename one`)
    objects.push(object)
  }
  return {
    process(name, { replicas = 1, ...input }) {
      const { metadata, spec } = partsOf(name, input)
      add(replicas === 1 ? workloadObject('Process', metadata, spec) : processSet(metadata, replicas, spec))
      return referenceTo(replicas === 1 ? 'Process' : 'ProcessSet', name, 'Ready')
    },
    task(name, { retries, schedule: when, timeZone, ...input }) {
      const { metadata, spec } = partsOf(name, input)
      if (when === undefined) {
        add(taskObject(metadata, spec, { retries }))
        return referenceTo('Task', name, 'Completed')
      }
      add(schedule(metadata, { schedule: when, ...(timeZone !== undefined && { timeZone }) }, spec))
      return referenceTo('Schedule', name, 'Ready')
    },
    service(name, { target, targetPort, appProtocol = schemeOf(targetPort), port, ...described }) {
      const labels = { [nameLabel]: target.name }
      label(objects, target, labels)
      const spec = { selector: { matchLabels: labels }, targetPort, appProtocol, port }
      add(workloadObject('Service', metadataOf(name, described), spec))
      return serviceReference(name)
    },
    container(name, input) {
      const { metadata, spec } = partsOf(name, input)
      add(workloadObject('Container', metadata, spec))
      return referenceTo('Container', name, 'Ready')
    },
    object: add,
  }
}

function schemeOf(portName: string): string | undefined {
  return portName === 'http' || portName === 'https' ? portName : undefined
}

function partsOf(name: string, input: Described & Wiring) {
  const { env = {}, dependsOn = [], labels, annotations, namespace, ...rest } = input
  const described = {
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(namespace !== undefined && { namespace }),
  }
  return {
    metadata: metadataOf(name, described),
    spec: {
      ...rest,
      env: Object.entries(env).map(([variable, value]) =>
        typeof value === 'object' ? { name: variable, ...value } : { name: variable, value: String(value) },
      ),
      dependsOn: dependsOn.map(({ kind, name: other, until }) => ({
        kind,
        name: other,
        until,
      })),
    },
  }
}

function metadataOf(name: string, { labels, annotations, namespace }: Described): ObjectNames {
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
  }
}

/** A service finds its process by a label. */
function label(objects: WorkloadObject[], target: Reference, labels: Readonly<Record<string, string>>): void {
  const at = objects.findIndex(({ kind, metadata }) => kind === target.kind && metadata.name === target.name)
  const object = objects[at]
  if (object)
    objects[at] = { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } }
}

function referenceTo(kind: WorkloadKind, name: string, until: Reference['until']): WorkloadReference {
  const to = (state: Reference['until']): Reference => ({ kind, name, until: state })
  return { ...to(until), started: to('Started'), ready: to('Ready'), completed: to('Completed') }
}

function serviceReference(name: string): ServiceReference {
  const address = (field: 'url' | 'host' | 'port'): AddressValue => ({ valueFrom: { service: { name, field } } })
  return { ...referenceTo('Service', name, 'Ready'), url: address('url'), host: address('host'), port: address('port') }
}
