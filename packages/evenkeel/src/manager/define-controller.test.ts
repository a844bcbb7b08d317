import { expect, test } from 'vitest'
import { defineKind } from '#api'
import { defineController } from './define-controller.ts'

const Thing = defineKind({ group: 'demo.example.com', version: 'v1', kind: 'Thing' })

test('defineController returns the declaration', () => {
  const declaration = { for: Thing, reconcile: () => undefined }
  expect(defineController(declaration)).toBe(declaration)
})

test('defineController refuses a declaration that cannot work', () => {
  expect(() => defineController({ for: Thing, name: 'Not a name', reconcile: () => undefined })).toThrow(
    'a controller\'s name consists of lower case letters, digits, dots and dashes, got "Not a name"',
  )
})
