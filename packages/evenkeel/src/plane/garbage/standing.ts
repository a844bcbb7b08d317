/**
 * How it is with an owner: by what is known, else by asking.
 *
 * The graph is believed when it says that an owner is there: should that be old, the owner's end will be told and its
 * dependents looked at again. That an owner is *not* there is believed only after its end was told, or the server said
 * so: a watch of another kind that lags behind must not cost anybody's life.
 */
import type { OwnerReference } from '#api'
import type { OwnerState } from './decide.ts'
import { factsOf, identityIn, isInReach, isNamedBy, isWaiting } from './graph/facts.ts'
import type { Identity } from './graph/facts.ts'
import type { Graph } from './graph/graph.ts'
import type { Operations } from './operations.ts'

/** An object of the whole cluster that names an owner of a kind that lives in namespaces: there is no place to look. */
export class UnreachableOwnerError extends Error {
  override readonly name = 'UnreachableOwnerError'
}

interface OwnerLookup {
  readonly graph: Graph
  readonly operations: Operations
}

interface Dependent {
  readonly identity: Identity
  readonly createdAt: string
}

/**
 * @throws {UnknownKindError} when the server does not have the owner's kind, or not yet.
 * @throws {UnreachableOwnerError}
 */
export async function ownerStateOf(
  reference: OwnerReference,
  { identity: { namespace, name }, createdAt }: Dependent,
  { graph, operations }: OwnerLookup,
): Promise<OwnerState> {
  const { absent } = graph
  const gone = (): OwnerState => (absent.hasOrphaned(reference.uid, createdAt) ? 'orphaned' : 'dangling')
  const [wide, narrow] = [identityIn('', reference), identityIn(namespace, reference)]
  if (absent.has(wide) || absent.has(narrow)) return gone()
  const known = graph.get(reference.uid)
  if (known && !known.isVirtual && isInReach(known.identity, namespace) && isNamedBy(known.identity, reference))
    return known.isWaiting ? 'waiting' : 'solid'
  const isNamespaced = await operations.isNamespaced(reference)
  if (isNamespaced && namespace === '')
    throw new UnreachableOwnerError(
      `${name} belongs to no namespace, so it cannot be owned by a ${reference.kind}, which does`,
    )
  const place = isNamespaced ? narrow : wide
  const owner = await operations.read(place)
  if (owner?.uid === reference.uid) return isWaiting(factsOf(owner)) ? 'waiting' : 'solid'
  absent.add(place)
  return gone()
}
