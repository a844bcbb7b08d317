/**
 * Whether entries of managed fields, and names of managers, may be stored.
 *
 * This is asked of what is about to be stored, so most of what a client can get wrong never comes here: a list that
 * cannot be read is not taken over in the first place.
 */
import { fieldError } from '../../error/field-error.ts'
import type { FieldError } from '../../error/field-error.ts'
import type { FieldPath } from '../../error/field-path.ts'
import type { ManagedFieldsEntry } from '../../object.ts'
import { utf8Length } from '../../text.ts'

const managerBytesMax = 128
const subresourceBytesMax = 256

export function validateFieldManager(name: string, path: FieldPath): FieldError[] {
  // Nearly all names, and this is asked of every entry on every write.
  if (name.length <= managerBytesMax && /^[ -~]*$/.test(name)) return []
  const errors = utf8Length(name) > managerBytesMax ? [fieldError.tooLong(path, managerBytesMax)] : []
  const odd = name.search(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u)
  if (odd >= 0) {
    const code = (name.codePointAt(odd) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    errors.push(fieldError.invalid(path, name, `invalid character U+${code} (at position ${odd})`))
  }
  return errors
}

export function validateManagedFields(entries: readonly ManagedFieldsEntry[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, { manager = '', operation = '', fieldsType = '', subresource = '' }] of entries.entries()) {
    if (operation !== 'Apply' && operation !== 'Update')
      errors.push(fieldError.invalid(path.index(index).child('operation'), operation, 'must be `Apply` or `Update`'))
    if (fieldsType !== '' && fieldsType !== 'FieldsV1')
      errors.push(fieldError.invalid(path.index(index).child('fieldsType'), fieldsType, 'must be `FieldsV1`'))
    if (manager !== '') errors.push(...validateFieldManager(manager, path.index(index).child('manager')))
    if (utf8Length(subresource) > subresourceBytesMax)
      errors.push(fieldError.tooLong(path.index(index).child('subresource'), subresourceBytesMax))
  }
  return errors
}
