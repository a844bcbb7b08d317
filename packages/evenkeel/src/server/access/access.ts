/**
 * What an authorizer is asked, what it says, and who is asked in which order.
 *
 * A question is about a user, a verb and a place; a {@link Call} is one as it stands, and so is what a review or the
 * check of an impersonation asks. There is one parser of paths: the place is what storage touches.
 */
import type { FieldRequirement, LabelRequirement } from '#api'
import type { ResourcePath } from '#wire'
import type { User } from '../call.ts'
import type { PolicyRule } from './policy-rule.ts'

/** What is asked. Without a place it is about a path that is not about resources. */
export interface AccessQuestion {
  readonly user: User
  /** `get`, `list`, ..., `impersonate`, `escalate`, `bind`, or the method in lower case for other paths. */
  readonly verb: string
  readonly path: string
  /** The name is also that of a collection whose field selector lets only one name through. */
  readonly place:
    | Pick<ResourcePath, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'>
    | undefined
  /** What narrows a list, a watch or the deletion of a collection; for authorizers that look at it. */
  readonly fields?: readonly FieldRequirement[]
  readonly labels?: readonly LabelRequirement[]
}

/** What is said: yes, or a no that ends the asking. */
export interface Verdict {
  readonly allowed: boolean
  /** Why, for the caller to read; may be empty. */
  readonly why: string
  /** A no for want of a yes: others are asked, and what is said here is kept for the end. */
  readonly undecided?: true
  /** What went wrong while deciding. Only a yes holds in spite of it. */
  readonly error?: string
}

/** What somebody may do in a namespace, as far as it can be said in rules. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[]
  /** There may be more that is allowed than the rules say. */
  readonly incomplete: boolean
  /** What could not be found out. */
  readonly errors: readonly string[]
}

/** Says yes or no, or undefined when it has no opinion. */
export interface Authorizer {
  (question: AccessQuestion): Verdict | undefined | Promise<Verdict | undefined>
  /** For those whose decisions follow from rules. Without it the answer to "what may I do" is marked as incomplete. */
  rulesFor?(user: User, namespace: string): HeldRules
}

/** The one door to permission: rooms ask it for calls, reviews ask it for others. */
export interface Access {
  decide(question: AccessQuestion): Verdict | Promise<Verdict>
  rulesFor(user: User, namespace: string): HeldRules
}

/** Asks authorizers in turn; the first that has an opinion decides, and without one the answer is no. */
export function askInTurn(authorizers: readonly Authorizer[]): Access {
  return {
    decide: (question) => askFrom(question, { authorizers, next: 0, said: [] }),
    rulesFor(user, namespace) {
      const held = authorizers.map((authorizer) => authorizer.rulesFor?.(user, namespace) ?? unknownRules)
      return {
        rules: held.flatMap(({ rules }) => rules),
        incomplete: held.some(({ incomplete }) => incomplete),
        errors: held.flatMap(({ errors }) => errors),
      }
    },
  }
}

interface Asking {
  readonly authorizers: readonly Authorizer[]
  readonly next: number
  /** By those who had no opinion. */
  readonly said: readonly Verdict[]
}

// Most decisions wait for nobody, and a promise costs more than they do.
function askFrom(question: AccessQuestion, { authorizers, next, said }: Asking): Verdict | Promise<Verdict> {
  let heard = said
  for (let index = next; index < authorizers.length; index++) {
    const asked = authorizers[index]?.(question)
    if (asked instanceof Promise) return goOn(question, asked, { authorizers, next: index + 1, said: heard })
    if (isDecided(asked)) return asked
    if (asked) heard = [...heard, asked]
  }
  return heard.length === 0 ? noOpinion : joined(heard)
}

async function goOn(question: AccessQuestion, asked: Promise<Verdict | undefined>, asking: Asking): Promise<Verdict> {
  const verdict = await asked
  if (isDecided(verdict)) return verdict
  return askFrom(question, { ...asking, said: verdict ? [...asking.said, verdict] : asking.said })
}

function isDecided(verdict: Verdict | undefined): verdict is Verdict {
  return verdict !== undefined && !verdict.undecided
}

function joined(said: readonly Verdict[]): Verdict {
  const why = said
    .map((verdict) => verdict.why)
    .filter((text) => text !== '')
    .join('\n')
  const errors = said.flatMap(({ error }) => error ?? [])
  return { allowed: false, undecided: true, why, ...(errors.length > 0 && { error: formatErrors(errors) }) }
}

/** Several errors as one text, in the form clients know. */
export function formatErrors(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors)
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`
}

const noOpinion: Verdict = { allowed: false, undecided: true, why: '' }
const unknownRules: HeldRules = { rules: [], incomplete: true, errors: [] }
