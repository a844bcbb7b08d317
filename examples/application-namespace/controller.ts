/**
 * The controller of ApplicationNamespaces: creates the Namespace, or adopts an existing one if its policy allows it.
 *
 * Invariants: a Namespace of another owner, by uid and not by name, is never changed. An adopted Namespace has an annotation
 * that says so, written together with the owner reference, and outlives its ApplicationNamespace unless a user agrees to
 * its deletion.
 */
import { isOwnedBy } from 'evenkeel'
import type { ControllerDeclaration, KubeObject, ObjectOf, Stored } from 'evenkeel'
import type { ReconcileClient } from 'evenkeel/controller'
import { Namespace } from 'evenkeel/kinds/core/v1'
import type { ManagedContext } from 'evenkeel/controller'
import type { AdoptPolicy } from 'evenkeel/verbs'
import { adoptedAnnotation, adoptLabel, ApplicationNamespace, confirmAnnotation } from './kinds.ts'
import type { ApplicationNamespaceObject } from './kinds.ts'

/** The name in logs, and the field manager. */
const name = 'application-namespaces'
/** On everything that `children` applies: the uid of the owner. */
const ownerLabel = 'evenkeel.dev/owner-uid'

export function applicationNamespaces(): ControllerDeclaration<typeof ApplicationNamespace, ManagedContext> {
  return {
    name,
    for: ApplicationNamespace,
    owns: [Namespace],
    async reconcile(application, { children, client, event, status }) {
      const { namespaceName, labels = {} } = application.spec
      status.condition('Ready', false, { reason: 'NamespaceNotReady', message: 'ChildrenReady says why' })
      const there = await findNamespace(application, client)
      const isNew = there !== undefined && !isOwnedBy(there, application)
      const isAdopted = isNew || there?.metadata.annotations?.[adoptedAnnotation] !== undefined
      const annotations = isAdopted ? { [adoptedAnnotation]: application.metadata.name } : {}
      // Adopts only what it has read: a Namespace that is created now triggers another reconcile.
      const namespace = await children.apply(
        Namespace,
        { metadata: { name: namespaceName, labels, annotations } },
        { adopt: there ? policyOf(application) : 'never' },
      )
      if (isNew) event({ type: 'Warning', reason: 'Adopted', note: keptFor(namespaceName), related: namespace })
      status.set({ namespaceUid: namespace.metadata.uid, adopted: isAdopted })
      status.condition('Adopted', isAdopted, {
        reason: isAdopted ? 'ThereBefore' : 'MadeHere',
        message: isAdopted ? keptFor(namespaceName) : warningFor(namespaceName),
      })
      if (children.ready()) status.condition('Ready', true, { reason: 'NamespaceActive' })
    },
    async cleanup(application, { client }) {
      const namespace = await client.find(Namespace, { name: application.spec.namespaceName }, { live: true })
      if (namespace && isReleased(namespace, application)) await release(namespace, client)
    },
  }
}

/**
 * Whether it stays: because of `--cascade=orphan`, or because it was adopted and no user agreed to its deletion. The garbage
 * collector may have removed the finalizer and the owner reference already.
 */
function isReleased(
  { metadata: { annotations = {}, labels = {}, ownerReferences = [] } }: KubeObject,
  { metadata, spec }: ApplicationNamespaceObject,
): boolean {
  if (labels[ownerLabel] !== metadata.uid) return false
  const isOrphaned =
    metadata.finalizers?.includes('orphan') === true || !ownerReferences.some(({ uid }) => uid === metadata.uid)
  return (
    isOrphaned ||
    (annotations[adoptedAnnotation] !== undefined && metadata.annotations?.[confirmAnnotation] !== spec.namespaceName)
  )
}

/** Applies an empty object: removes our fields and keeps those of others. */
async function release(
  { apiVersion, kind, metadata: { name: namespaceName, uid } }: Stored<ObjectOf<typeof Namespace>>,
  client: ReconcileClient,
): Promise<void> {
  await client.apply({ apiVersion, kind, metadata: { name: namespaceName, uid } }, { fieldManager: name, force: true })
}

/** From the cache if it is ours; otherwise from the server. */
async function findNamespace(
  application: ApplicationNamespaceObject,
  client: ReconcileClient,
): Promise<Stored<ObjectOf<typeof Namespace>> | undefined> {
  const key = { name: application.spec.namespaceName }
  const known = await client.find(Namespace, key)
  return known && isOwnedBy(known, application) ? known : client.find(Namespace, key, { live: true })
}

function policyOf({ metadata: { name }, spec: { adopt } }: ApplicationNamespaceObject): AdoptPolicy {
  if (adopt === 'Never') return 'never'
  return adopt === 'IfOrphan' ? 'ifOrphan' : { ifLabelled: { [adoptLabel]: name } }
}

function warningFor(namespace: string): string {
  return `deleting this deletes the Namespace ${namespace} and everything in it`
}

function keptFor(namespace: string): string {
  return `the Namespace ${namespace} existed before: it and everything in it are deleted with this object only if a user confirms (${confirmAnnotation})`
}
