import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { errorReference, fieldCauses, otherCauses, reasons } from './reasons.ts'

const page = new URL('../../../../../docs/reference/errors.md', import.meta.url)

test('docs/reference/errors.md is what errorReference() says', () => {
  expect(readFileSync(page, 'utf8'), 'write the return value of errorReference() into docs/reference/errors.md').toBe(
    errorReference(),
  )
})

test('the page has a row for every reason and every cause', () => {
  const rows = errorReference().split('\n')
  for (const [reason, code] of Object.entries(reasons))
    expect(rows.filter((row) => row.startsWith(`| \`${reason}\` | ${code} | `))).toHaveLength(1)
  for (const cause of [...Object.keys(fieldCauses), ...Object.keys(otherCauses)])
    expect(rows.filter((row) => row.startsWith(`| \`${cause}\` | `)).length).toBeGreaterThan(0)
})
