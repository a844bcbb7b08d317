/**
 * The objects that `evenkeel run` has applied to a namespace: written before they are applied, so that what leaves the files is
 * found and removed, also after a crash.
 *
 *   run 1 applies a, b         ConfigMap evenkeel-run: a, b
 *   run 2 applies a            a, b ─▶ apply a ─▶ delete b ─▶ a
 *
 * Invariant: only an object that still has fields of the field manager `evenkeel-run` is deleted.
 */
import type { KubeObject } from 'evenkeel'
import { type Client } from 'evenkeel/client'
import type { FileObject } from '@evenkeel/workloads'
import type { Clock } from 'evenkeel/unstable/base'
import { Failure, failureOf } from '../failure.ts'
import { watchObjects } from '../object-watch.ts'

const runManager = 'evenkeel-run'

const inventoryKind = { apiVersion: 'v1', kind: 'ConfigMap' } as const
const field = 'objects'

export interface AppliedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

interface InventoryOptions {
  readonly namespace: string
  readonly signal: AbortSignal
}

export async function readInventory(
  client: Client,
  { namespace, signal }: InventoryOptions,
): Promise<readonly AppliedObject[]> {
  const found = await client.find(inventoryKind, { name: runManager, namespace }, { signal })
  const text = (found as { readonly data?: Readonly<Record<string, string>> } | undefined)?.data?.[field]
  try {
    return text === undefined ? [] : (JSON.parse(text) as readonly AppliedObject[])
  } catch {
    return []
  }
}

async function writeInventory(
  client: Client,
  objects: readonly AppliedObject[],
  { namespace, signal }: InventoryOptions,
): Promise<void> {
  await client.apply(
    {
      ...inventoryKind,
      metadata: { name: runManager, namespace },
      data: { [field]: JSON.stringify(objects) },
    } as KubeObject,
    { fieldManager: runManager, force: true, signal },
  )
}

interface Applied {
  readonly removed: readonly AppliedObject[]
  /** They go as soon as their controllers run, and have to be applied once more. */
  readonly deleting: readonly FileObject[]
}

interface ApplyAllOptions extends InventoryOptions {
  /** Objects of an earlier run that stay although the files do not name them. */
  readonly keep?: (object: AppliedObject) => boolean
}

/**
 * Applies the objects and removes those that earlier runs have applied.
 *
 * @returns those that were removed, and those that an earlier `down` is still deleting
 * @throws {Failure} `bad-file` that names every object that the server refuses, with its place
 */
export async function applyAll(
  client: Client,
  objects: readonly FileObject[],
  { namespace, signal, keep = () => false }: ApplyAllOptions,
): Promise<Applied> {
  await ensureNamespace(client, { namespace, signal })
  const placed = await inNamespace(client, objects, { namespace, signal })
  const before = await readInventory(client, { namespace, signal })
  const now = placed.map(({ object }) => appliedOf(object))
  const gone = before.filter((one) => !now.some((other) => isSame(one, other)))
  const kept = gone.filter(keep)
  const removed = gone.filter((one) => !kept.includes(one))
  if (removed.length > 0 || now.some((one) => !before.some((other) => isSame(one, other))))
    await writeInventory(client, [...now, ...gone], { namespace, signal })
  const deleting = await applyObjects(client, placed, signal)
  for (const one of removed) await removeApplied(client, one, signal)
  if (removed.length > 0) await writeInventory(client, [...now, ...kept], { namespace, signal })
  return { removed, deleting }
}

interface WaitOptions {
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** Waits until an object that is being deleted is gone, and makes it again. */
export async function applyAgain(client: Client, one: FileObject, options: WaitOptions): Promise<void> {
  const { apiVersion, kind, metadata } = one.object
  await untilGone(client, { apiVersion, kind, metadata } as KubeObject, options)
  await applyObjects(client, [one], options.signal)
}

/** Waits until an object is gone, or is another one of its name. */
export async function untilGone(
  client: Client,
  { apiVersion, kind, metadata: { name = '', namespace, uid } }: KubeObject,
  { signal, clock }: WaitOptions,
): Promise<void> {
  const selection = { namespace, fieldSelector: `metadata.name=${name}`, signal, clock }
  for await (const change of watchObjects(client, { apiVersion, kind }, selection)) {
    const isThere =
      change.type === 'LISTED' && change.objects.some(({ metadata }) => uid === undefined || metadata.uid === uid)
    if (change.type === 'LISTED' ? !isThere : change.type === 'DELETED') return
  }
}

/** After `down`. */
export async function forgetApplied(
  client: Client,
  left: readonly AppliedObject[],
  options: InventoryOptions,
): Promise<void> {
  if (left.length > 0) return writeInventory(client, left, options)
  const inventory = { ...inventoryKind, metadata: { name: runManager, namespace: options.namespace } } as KubeObject
  await client.delete(inventory, { ignoreNotFound: true, signal: options.signal })
}

async function ensureNamespace(client: Client, { namespace, signal }: InventoryOptions): Promise<void> {
  const kind = { apiVersion: 'v1', kind: 'Namespace' }
  if (await client.find(kind, { name: namespace }, { signal })) return
  await client.apply({ ...kind, metadata: { name: namespace } } as KubeObject, { fieldManager: runManager, signal })
}

/** A namespace in the file wins; objects of the cluster have none. */
async function inNamespace(
  client: Client,
  objects: readonly FileObject[],
  { namespace, signal }: InventoryOptions,
): Promise<readonly FileObject[]> {
  const isOther = objects.some(({ object }) => !object.apiVersion.startsWith('workloads.evenkeel.dev/'))
  const resources = isOther ? await client.resources({ signal }) : []
  const isOfCluster = ({ apiVersion, kind }: FileObject['object']): boolean =>
    resources.some((one) => one.apiVersion === apiVersion && one.kind === kind && !one.namespaced)
  return objects.map((one) =>
    isOfCluster(one.object)
      ? one
      : { ...one, object: { ...one.object, metadata: { namespace, ...one.object.metadata } } },
  )
}

/** Returns those that are being deleted. */
async function applyObjects(
  client: Client,
  objects: readonly FileObject[],
  signal: AbortSignal,
): Promise<readonly FileObject[]> {
  const results = await Promise.allSettled(
    objects.map(({ object }) =>
      client.apply(object as unknown as KubeObject, {
        fieldManager: runManager,
        force: true,
        fieldValidation: 'Strict',
        signal,
      }),
    ),
  )
  const problems = results.flatMap((result, index) => {
    if (result.status === 'fulfilled') return []
    signal.throwIfAborted()
    const failure = failureOf(result.reason)
    if (!failure) throw result.reason
    const { file, line } = objects[index] ?? { file: '', line: 1 }
    return [`${file}:${line}: ${failure.message}`]
  })
  if (problems.length > 0) throw new Failure('bad-file', problems.join('\n'), { hint: 'evenkeel explain KIND.spec' })
  return objects.filter((_, index) => {
    const result = results[index]
    return result?.status === 'fulfilled' && result.value.metadata.deletionTimestamp !== undefined
  })
}

async function removeApplied(client: Client, applied: AppliedObject, signal: AbortSignal): Promise<void> {
  const { apiVersion, kind, ...key } = applied
  const found = await client.find({ apiVersion, kind }, key, { signal })
  if (found && isOurs(found as KubeObject))
    await client.delete({ ...found, apiVersion, kind } as KubeObject, { ignoreNotFound: true, signal })
}

/** Whether `evenkeel run` still has fields of an object. */
export function isOurs({ metadata }: KubeObject): boolean {
  return (metadata.managedFields ?? []).some(({ manager }) => manager === runManager)
}

function appliedOf({ apiVersion, kind, metadata }: FileObject['object']): AppliedObject {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

function isSame(a: AppliedObject, b: AppliedObject): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name && a.namespace === b.namespace
}
