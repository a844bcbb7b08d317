import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { FieldPath, formatFieldError } from '../errors/field-error.ts'
import type { ManagedFieldsEntry } from '../object.ts'
import { validateFieldManager, validateManagedFields } from './managed-fields.ts'

const entry = { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} } as const
const complaints = (more: object): string[] =>
  validateManagedFields(
    [entry, { ...entry, ...more } as ManagedFieldsEntry],
    FieldPath.of('metadata', 'managedFields'),
  ).map(formatFieldError)

describe('validateManagedFields', () => {
  test.each([
    [{}, []],
    [{ manager: '', subresource: 'status' }, []],
    [
      { operation: 'Nope' },
      ['metadata.managedFields[1].operation: Invalid value: "Nope": must be `Apply` or `Update`'],
    ],
    [{ fieldsType: 'V2' }, ['metadata.managedFields[1].fieldsType: Invalid value: "V2": must be `FieldsV1`']],
    [{ manager: 'm'.repeat(129) }, ['metadata.managedFields[1].manager: Too long: may not be more than 128 bytes']],
    [
      { manager: 'a\nb' },
      ['metadata.managedFields[1].manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)'],
    ],
    [
      { subresource: 's'.repeat(257) },
      ['metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes'],
    ],
  ])('%j: %j', (more, expected) => {
    assert.deepEqual(complaints(more), expected)
  })
})

describe('validateFieldManager', () => {
  test('counts bytes, and minds what cannot be seen', () => {
    const path = FieldPath.of('fieldManager')
    assert.equal(validateFieldManager('é'.repeat(64), path).length, 0)
    assert.equal(validateFieldManager('é'.repeat(65), path).length, 1)
    assert.equal(validateFieldManager('\u00a0', path).length, 1)
  })
})
