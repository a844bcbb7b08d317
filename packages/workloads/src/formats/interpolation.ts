/**
 * Variables in the values of compose files.
 *
 *   $NAME  ${NAME}            the value; if it is not set, nothing, with a warning
 *   ${NAME:-other}            the value, or `other` if it is not set or empty;    ${NAME-other} only if it is not set
 *   ${NAME:+other}            `other` if it is set and not empty, else nothing;    ${NAME+other} if it is set
 *   ${NAME:?message}          an error with the message if it is not set or empty; ${NAME?message} if it is not set
 *   $$                        a dollar sign
 *
 * What follows an operator may contain variables itself. Anything else after a dollar sign stays as it is.
 */
import type { Findings, Place } from './finding.ts'
import type { Expansion } from './yaml-value.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface InterpolationOptions {
  readonly env: Environment
  readonly findings: Findings
}

/** Replaces variables; each name that is not set is reported once. */
export function interpolation({ env, findings }: InterpolationOptions): Expansion {
  const reported = new Set<string>()
  const report = (name: string, place: Place): void => {
    if (reported.has(`${name} ${place.path}`)) return
    reported.add(`${name} ${place.path}`)
    findings.warn(
      place,
      `the variable ${name} is not set: nothing stands in its place. Set it, or write $$ for a dollar sign`,
    )
  }
  const expand: Expansion = (text, place) => {
    let result = ''
    for (let at = 0; at < text.length;) {
      const found = text[at] === '$' ? tokenAt(text, at) : undefined
      if (!found) {
        result += text[at] ?? ''
        at++
        continue
      }
      result += valueOf(found, { place, env, findings, report, expand })
      at = found.end
    }
    return result
  }
  return expand
}

/** `$$` has the name `$`. */
interface Token {
  readonly name: string
  readonly operator: string
  readonly operand: string
  readonly end: number
}

function tokenAt(text: string, at: number): Token | undefined {
  const [plain, name] = /^\$(\$|[A-Za-z_]\w*)/.exec(text.slice(at)) ?? []
  if (plain !== undefined && name !== undefined) return { name, operator: '', operand: '', end: at + plain.length }
  const [opening, braced, operator = ''] = /^\$\{([A-Za-z_]\w*)(:?[-+?])?/.exec(text.slice(at)) ?? []
  if (opening === undefined || braced === undefined) return undefined
  let [depth, end] = [1, at + opening.length]
  for (; end < text.length && depth > 0; end++) {
    if (text[end] === '}') depth--
    else if (text.startsWith('${', end)) depth++
  }
  const operand = text.slice(at + opening.length, end - 1)
  return depth > 0 || (operator === '' && operand !== '') ? undefined : { name: braced, operator, operand, end }
}

interface ValueOptions extends InterpolationOptions {
  readonly place: Place
  readonly expand: Expansion
  report(name: string, place: Place): void
}

function valueOf({ name, operator, operand }: Token, { place, env, findings, report, expand }: ValueOptions): string {
  if (name === '$') return '$'
  const value = env[name]
  const isMissing = value === undefined || (operator.startsWith(':') && value === '')
  switch (operator.at(-1)) {
    case '-':
      return isMissing ? expand(operand, place) : value
    case '+':
      return isMissing ? '' : expand(operand, place)
    case '?':
      if (isMissing) findings.error(place, `the variable ${name} is required: ${operand || 'set it'}`)
      return value ?? ''
    default:
      if (value === undefined) report(name, place)
      return value ?? ''
  }
}
