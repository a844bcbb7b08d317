import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderCompatibility } from './compatibility.ts'

test('docs/compatibility.md is what the suite says: npm run -s conformance -- server --compatibility > docs/compatibility.md', () => {
  const page = readFileSync(new URL('../../../../docs/compatibility.md', import.meta.url), 'utf8')
  expect(page).toBe(renderCompatibility())
})
