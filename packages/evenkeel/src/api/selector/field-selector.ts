/**
 * Field selectors: `metadata.name=web,status.phase!=Running`.
 *
 * Only equality, joined by commas. In values `\`, `,` and `=` are escaped with a backslash; field names have no
 * escapes. A missing field is the empty string, so `spec.nodeName=` selects objects without one.
 */
import { compareText, getOwn } from '@evenkeel/cel/primitives'
import { badRequest } from '../errors/constructors.ts'

export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** The selectable fields of an object, by path. */
type SelectableFields = Readonly<Record<string, string>>

/** The new field and value; `undefined` drops the requirement. */
type FieldTransform = (field: string, value: string) => { readonly field: string; readonly value: string } | undefined

/**
 * Parses a selector; `==` is the same as `=`. The empty string selects everything.
 *
 * @throws {ApiError} `BadRequest`, with the text of upstream.
 */
export function parseFieldSelector(text: string): readonly FieldRequirement[] {
  return splitTerms(text)
    .sort(compareText)
    .filter((term) => term !== '')
    .map((term) => parseTerm(term, text))
}

/** The canonical text; it parses back to the same requirements. */
export function formatFieldRequirements(requirements: readonly FieldRequirement[]): string {
  return requirements.map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`).join(',')
}

/** Whether all requirements hold; no requirements match everything. */
export function matchesFields(requirements: readonly FieldRequirement[], fields: SelectableFields): boolean {
  return requirements.every(
    ({ field, operator, value }) => ((getOwn(fields, field) ?? '') === value) === (operator === '='),
  )
}

/** The only value that a field can have, if the requirements determine it. */
export function exactFieldValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value
}

/** Renames fields and converts values, as old versions of a kind need it. */
export function transformFields(
  requirements: readonly FieldRequirement[],
  transform: FieldTransform,
): readonly FieldRequirement[] {
  return requirements.flatMap(({ field, operator, value }) => {
    const changed = transform(field, value)
    return changed ? [{ ...changed, operator }] : []
  })
}

/**
 * Checks that a selector uses only the selectable fields of a kind.
 *
 * @throws {ApiError} `BadRequest`, naming the field.
 */
export function requireSelectable(requirements: readonly FieldRequirement[], supported: readonly string[]): void {
  const unknown = requirements.find(({ field }) => !supported.includes(field))
  if (unknown) throw badRequest(`field label not supported: ${unknown.field}`)
}

/** A literal text as the value of a field selector. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, (character) => `\\${character}`)
}

/** Splits at commas without a backslash before them; escapes stay. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === ',') {
      terms.push(text.slice(start, index))
      start = index + 1
    }
  }
  return [...terms, text.slice(start)]
}

// The first operator splits: `!=` before `==` before `=`, so that no `=` is left at the beginning of the value.
const termPattern = /^(.*?)(!=|==|=)(.*)$/s

function parseTerm(term: string, selector: string): FieldRequirement {
  const match = termPattern.exec(term)
  if (!match) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`)
  const [, field = '', operator, value = ''] = match
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeFieldValue(value) }
}

function unescapeFieldValue(value: string): string {
  return value.replace(/\\(.?)|[,=]/gsu, (sequence, escaped: string | undefined) => {
    // Upstream prints the character as a number; tools match on this text.
    if (escaped === undefined)
      throw badRequest(`invalid field selector: unescaped character in value: ${sequence.codePointAt(0)}`)
    if (escaped === '\\' || escaped === ',' || escaped === '=') return escaped
    throw badRequest(`invalid field selector: invalid escape sequence: ${sequence}`)
  })
}
