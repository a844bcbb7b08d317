import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { describeError, placeOf } from './error-place.ts'

const folder = process.cwd()

function failing(stack: string, { message = 'it broke', cause }: { message?: string; cause?: unknown } = {}): Error {
  const error = new TypeError(message, { cause })
  error.stack = `TypeError: ${message}\n${stack}`
  return error
}

const reconcile = `    at reconcile (${folder}/app.ts:12:30)`
const library = `    at async Worker.run (${folder}/node_modules/evenkeel/dist/run.js:5:1)`
const node = '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)'

describe('F1: placeOf', () => {
  test('is the line of a real error', () => {
    const { file, line } = thrownHere()
    expect(placeOf(new Error('x', { cause: new Error('y') }))).toMatch(/error-place\.test\.ts:\d+$/)
    expect(file).toBe(`packages/evenkeel/src/base/error-place.test.ts:${line}`)
  })

  test('is the first line of the program, below those of libraries and Node', () => {
    expect(placeOf(failing([node, library, reconcile].join('\n')))).toBe('app.ts:12')
    expect(placeOf(failing(`    at ${pathToFileURL(folder).href}/src/with%20space.ts:3:1`))).toBe('src/with space.ts:3')
    expect(placeOf(failing(`    at async ${folder}/main.ts:1:7`))).toBe('main.ts:1')
    expect(placeOf(failing('    at reconcile (/elsewhere/app.ts:4:2)'))).toBe('/elsewhere/app.ts:4')
  })

  test('is that of the cause when the error was made by a library', () => {
    expect(placeOf(failing(library, { cause: failing(reconcile) }))).toBe('app.ts:12')
  })

  test('is that of the cause when this package wrapped it, although the program called the wrapper', () => {
    const wrapper = `    at ExternalSession.call (${folder}/packages/evenkeel/src/verbs/external/session.ts:5:1)`
    const driver = failing(`    at create (${folder}/driver.ts:7:9)`)
    const wrapped = failing([wrapper, reconcile].join('\n'), { cause: driver })
    expect(placeOf(wrapped)).toBe('driver.ts:7')
    expect(placeOf(failing([wrapper, reconcile].join('\n')))).toBe('app.ts:12')
    expect(placeOf(failing(reconcile, { cause: driver }))).toBe('app.ts:12')
  })

  test('is undefined where no line of the program is known', () => {
    expect(placeOf(failing([library, node].join('\n')))).toBeUndefined()
    expect(placeOf('a text')).toBeUndefined()
    const bare = new Error('x')
    delete bare.stack
    expect(placeOf(bare)).toBeUndefined()
  })
})

describe('F1: describeError', () => {
  test('shows the program first, and counts the rest', () => {
    expect(describeError(failing([node, library, reconcile].join('\n')))).toEqual([
      'TypeError: it broke',
      '    at reconcile (app.ts:12:30)',
      '    ... 2 more lines',
    ])
  })

  test('shows the first lines of libraries when there are no others', () => {
    expect(describeError(failing([library, node].join('\n')))).toEqual([
      'TypeError: it broke',
      '    at Worker.run (node_modules/evenkeel/dist/run.js:5:1)',
      '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
    ])
  })

  test('shows the chain of causes, and ends in a circle', () => {
    const inner = failing(`    at connect (${folder}/db.ts:7:9)`, { message: 'connect ECONNRESET' })
    const outer = failing(reconcile, { message: 'fetch failed', cause: inner })
    inner.cause = outer
    expect(describeError(outer)).toEqual([
      'TypeError: fetch failed',
      '    at reconcile (app.ts:12:30)',
      '  caused by TypeError: connect ECONNRESET',
      '    at connect (db.ts:7:9)',
    ])
  })
})

function thrownHere(): { file: string | undefined; line: number } {
  const error = new Error('here')
  const line = Number(/error-place\.test\.ts:(\d+)/.exec(error.stack ?? '')?.[1])
  expect(error.stack).toContain(fileURLToPath(import.meta.url))
  return { file: placeOf(error), line }
}
