/**
 * Makes sure that the roles and bindings that every cluster has are there, at every start.
 *
 * What is there is known from the views, so that a start on a store that has everything reads and writes nothing. What
 * is missing is written in few commits. Two servers on one store may do this at once: who loses looks again.
 */
import { formatTime } from '#api'
import type { JsonObject } from '#api'
import { randomUuid } from '#base'
import { storeLimits } from '#store'
import type { Write } from '#store'
import type { ServerContext } from '../../call.ts'
import { Unstamped } from '../../storage/bytes.ts'
import { objectKey } from '../../storage/keys.ts'
import { rbacGroup } from '../permissions.ts'
import { defaultRbacObjects } from './expand.ts'
import type { DefaultRbacObject } from './expand.ts'
import { defaultMetadata, mustRecreate, reconcileDefault } from './reconcile.ts'

const attemptsMax = 10

/** Writes what is missing; the views have it when this resolves. */
export async function installDefaultRoles(server: ServerContext): Promise<void> {
  const wanted = defaultRbacObjects()
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const writes = wanted.flatMap((object) => writeOf(object, server) ?? [])
    const isDone = await commitInParts(writes, server)
    if (isDone && !writes.some(({ value }) => value === undefined)) return
  }
  server.log.error('the default roles kept changing while they were being written', {})
}

/** @returns whether all of it was written; otherwise somebody else was faster */
async function commitInParts(writes: readonly Write[], { store, informers }: ServerContext): Promise<boolean> {
  let isDone = true
  for (let from = 0; from < writes.length; from += storeLimits.batchMax) {
    const { ok } = await store.commitAll(writes.slice(from, from + storeLimits.batchMax))
    isDone &&= ok
  }
  if (writes.length > 0) await informers.waitForRevision(await store.head())
  return isDone
}

function writeOf(object: DefaultRbacObject, { informers, cluster, clock, random }: ServerContext): Write | undefined {
  const { plural, kind, namespace, name, fields } = object
  const key = objectKey(cluster, { group: rbacGroup, plural, version: 'v1', kind }, { namespace, name })
  const present = informers.forResource(rbacGroup, plural).get(name, { namespace })
  // A binding that must go is made anew in the next round.
  if (present && mustRecreate(object, present)) return { key, expect: Number(present.metadata.resourceVersion) }
  const made = (): JsonObject => ({
    kind,
    apiVersion: `${rbacGroup}/v1`,
    ...fields,
    metadata: {
      name,
      ...(namespace !== '' && { namespace }),
      uid: randomUuid(random),
      creationTimestamp: formatTime(clock.now()),
      ...defaultMetadata(object),
    },
  })
  const next = present ? reconcileDefault(object, present) : made()
  if (next === undefined) return undefined
  const { value, stampAt } = new Unstamped(next)
  return { key, value, stampAt, expect: Number(present?.metadata.resourceVersion ?? 0) }
}
