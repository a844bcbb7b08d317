/**
 * Rules about the names of a defined kind, those wished for and those granted.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { FieldPath } from '../error/field-path.ts'
import type { JsonObject } from '../json.ts'
import { checkDns1035Label } from '../names.ts'
import { textIn, textsIn } from './reading.ts'

/** Names that are absent are no concern here. */
export function checkCrdNames(names: JsonObject, path: FieldPath): FieldError[] {
  const [kind, listKind] = [textIn(names, 'kind'), textIn(names, 'listKind')]
  const ambiguous = kind !== '' && kind === listKind
  return [
    ...['plural', 'singular'].flatMap((name) =>
      textIn(names, name) === '' ? [] : refuseLabel(textIn(names, name), path.child(name)),
    ),
    ...['kind', 'listKind'].flatMap((name) => refuseKind(textIn(names, name), path.child(name))),
    ...textsIn(names, 'shortNames').flatMap((name, index) => refuseLabel(name, path.child('shortNames').index(index))),
    ...(ambiguous
      ? [fieldError.invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same')]
      : []),
    ...textsIn(names, 'categories').flatMap((name, index) => refuseLabel(name, path.child('categories').index(index))),
  ]
}

/** The complaints of a name check as one error. */
export function refuseLabel(name: string, path: FieldPath): FieldError[] {
  const complaints = checkDns1035Label(name)
  return complaints.length === 0 ? [] : [fieldError.invalid(path, name, complaints.join(','))]
}

function refuseKind(kind: string, path: FieldPath): FieldError[] {
  const complaints = kind === '' ? [] : checkDns1035Label(kind.toLowerCase())
  return complaints.length === 0
    ? []
    : [fieldError.invalid(path, kind, `may have mixed case, but should otherwise match: ${complaints.join(',')}`)]
}
