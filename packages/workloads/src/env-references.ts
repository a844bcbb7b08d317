/**
 * Variables of a Process or a Container whose values are elsewhere: `spec.env[].valueFrom`.
 *
 *   service: { name, field }   url, host, port or address (`host:port`) of a Service, as soon as that has an address
 *   secret: { name, key }      a key of a Secret of the namespace
 *   config: { name, key }      a key of a ConfigMap of the namespace
 *
 * In a container this machine has another name, so that `url`, `host` and `address` of a Service have that.
 *
 * A program starts when all of them are known. When one changes it is started again; when one disappears it goes on with the
 * value that it has.
 *
 * Invariant: values are only passed on to the process; a message names objects and keys.
 */
import { dependsOn, isConditionTrue, type KubeObject } from 'evenkeel'
import type { ProcessObject } from './process-kind.ts'
import { Service, type ServiceObject } from './services/service-kind.ts'

type Variable = NonNullable<ProcessObject['spec']['env']>[number]
type Source = NonNullable<Variable['valueFrom']>
type SourceName = keyof Source

/** A program with variables. */
interface HasVariables {
  readonly spec: { readonly env?: readonly Variable[] | undefined }
}

/** What is known about the references of a program. */
export interface EnvValues {
  /** By the index in `spec.env`. */
  readonly values: ReadonlyMap<number, string>
  /** What a start has to wait for. */
  readonly missing?: { readonly reason: string; readonly message: string } | undefined
}

/** One verb for each sort of object. Secrets and ConfigMaps are watched while a program refers to one. */
export function referenceVerbs<T extends KubeObject & HasVariables = ProcessObject>() {
  const namesOf =
    (source: SourceName) =>
    ({ spec }: T): readonly string[] => [
      ...new Set((spec.env ?? []).flatMap(({ valueFrom }) => valueFrom?.[source]?.name ?? [])),
    ]
  const present = { ready: () => true }
  return {
    service: dependsOn(Service, namesOf('service'), { ready: hasAddress as never }),
    secret: dependsOn({ group: '', kind: 'Secret' }, namesOf('secret'), present),
    config: dependsOn({ group: '', kind: 'ConfigMap' }, namesOf('config'), present),
  }
}

function hasAddress({ status }: ServiceObject): boolean {
  return isConditionTrue(status?.conditions, 'AddressAllocated') && status?.url !== undefined
}

interface ResolveOptions {
  readonly verbs: ReturnType<typeof referenceVerbs>
  readonly context: { readonly signal: AbortSignal }
  /** By which name the program reaches this machine. @default the address of the Service */
  readonly machine?: string | undefined
}

/** Addresses that mean this machine, and another one in a container. */
const ownAddresses: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::'])

/** The values of a program, as far as they are known. */
export async function envValuesOf(
  { spec }: HasVariables,
  { verbs, context, machine }: ResolveOptions,
): Promise<EnvValues> {
  const variables = [...(spec.env ?? []).entries()].filter(([, { valueFrom }]) => valueFrom)
  if (variables.length === 0) return { values: new Map() }
  const found = {
    service: foundBy(await verbs.service.find(context)),
    secret: foundBy(await verbs.secret.find(context)),
    config: foundBy(await verbs.config.find(context)),
  }
  const values = new Map<number, string>()
  const problems: { readonly reason: string; readonly message: string }[] = []
  for (const [index, { valueFrom = {} }] of variables) {
    const result = valueOf(valueFrom, found, machine)
    if ('value' in result) values.set(index, result.value)
    else problems.push({ ...result, message: `${result.message} (spec.env[${index}].valueFrom)` })
  }
  const [first] = problems
  return {
    values,
    missing: first && { reason: first.reason, message: problems.map(({ message }) => message).join('; ') },
  }
}

/** A referenced object, or why it cannot be read. */
interface Found {
  readonly object?: object | undefined
  readonly isReady: boolean
  readonly reason?: string | undefined
}

type FoundObjects = Readonly<Record<SourceName, ReadonlyMap<string, Found>>>
type Value = { readonly value: string } | { readonly reason: string; readonly message: string }

function foundBy(
  list: readonly (Found & { readonly reference: string | { readonly name: string } })[],
): ReadonlyMap<string, Found> {
  return new Map(list.map((one) => [typeof one.reference === 'string' ? one.reference : one.reference.name, one]))
}

function valueOf({ service, secret, config }: Source, found: FoundObjects, machine?: string): Value {
  if (service) {
    const one = found.service.get(service.name)
    if (!one?.isReady) return waits(`Service ${service.name} to have an address`, one)
    return { value: fieldOf(one.object as ServiceObject, service.field ?? 'url', machine) }
  }
  if (secret) return keyOf({ kind: 'Secret', ...secret }, found.secret.get(secret.name))
  if (config) return keyOf({ kind: 'ConfigMap', ...config }, found.config.get(config.name))
  return { reason: 'InvalidReference', message: 'there is neither service nor secret nor config' }
}

function waits(forWhat: string, one: Found | undefined): Value {
  const reason = one?.reason ?? 'NotFound'
  return { reason, message: `waits for ${forWhat}${reason === 'NotFound' ? ', which does not exist' : ''}` }
}

function fieldOf({ status }: ServiceObject, field: 'url' | 'host' | 'port' | 'address', machine?: string): string {
  const { url = '', address = '', port = 0 } = status ?? {}
  const host = machine !== undefined && ownAddresses.has(address) ? machine : address
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const reached = host === address ? url : `${url.slice(0, url.indexOf('://'))}://${authority}`
  return { url: reached, host, port: String(port), address: authority }[field]
}

/** A key of a Secret or a ConfigMap. */
function keyOf(
  { kind, name, key }: { readonly kind: 'Secret' | 'ConfigMap'; readonly name: string; readonly key: string },
  one: Found | undefined,
): Value {
  if (!one?.isReady) return waits(`${kind} ${name}`, one)
  const { data = {} } = one.object as { readonly data?: Readonly<Record<string, string>> }
  const stored = Object.hasOwn(data, key) ? data[key] : undefined
  if (stored === undefined)
    return {
      reason: 'KeyNotFound',
      message: `${kind} ${name} has no key ${JSON.stringify(key)}: add it, or correct the key`,
    }
  return { value: kind === 'Secret' ? Buffer.from(stored, 'base64').toString('utf8') : stored }
}
