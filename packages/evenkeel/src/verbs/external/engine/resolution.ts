/**
 * What a person answered where the engine would have had to guess, in the annotation `external.evenkeel.dev/resolve`:
 *
 *   adopt:ID       this one is it
 *   recreate:KEY   whatever came of that attempt, make another one
 *   orphan:KEY     let go of whatever came of it
 *
 * The key of the attempt makes it an answer to one question: it stays on the object and answers no other.
 */
import type { KubeObject } from '#api'
import type { CreateAttempt, ResourceRecord } from '../memory/memory.ts'
import { annotationOf, annotationPrefix } from '../policy/policy.ts'

type Resolution =
  | { readonly type: 'adopt'; readonly id: string }
  | { readonly type: 'recreate' }
  | { readonly type: 'orphan' }

export function resolutionOf(object: KubeObject, { id, attempt }: ResourceRecord): Resolution | undefined {
  const text = annotationOf(object, 'resolve') ?? ''
  const at = text.indexOf(':')
  const [verb, about] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
  if (about === '') return undefined
  // A thing that is known already needs no answer, unless the answer is about that very one.
  if (verb === 'adopt') return id === undefined || id === about ? { type: 'adopt', id: about } : undefined
  if (attempt?.key !== about) return undefined
  return verb === 'recreate' || verb === 'orphan' ? { type: verb } : undefined
}

/** The choices, as they can be typed. */
export function choicesFor(
  { kind, metadata: { name = '', namespace } }: KubeObject,
  attempt: CreateAttempt | undefined,
  { isCleanup }: { isCleanup: boolean },
): string {
  const where = `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`
  const answers = ['adopt:ID', ...(attempt ? [`${isCleanup ? 'orphan' : 'recreate'}:${attempt.key}`] : [])]
  return `answer with: kubectl annotate --overwrite ${where} ${annotationPrefix}resolve=${answers.join(' or ')}`
}
