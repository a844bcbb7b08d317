import { expect, test } from 'vitest'
import { systemHost } from './host.ts'

const call = (script: string, env: Record<string, string> = {}) => ({
  command: process.execPath,
  args: ['-e', script],
  env: { ...process.env, ...env },
  interactive: false,
})

test('systemHost.runProgram gives output, complaints and code', async () => {
  expect(
    await systemHost().runProgram(
      call('console.log(process.env.WORD); console.error("oh"); process.exitCode = 3', { WORD: 'größe' }),
    ),
  ).toEqual({ code: 3, stdout: 'größe\n', stderr: 'oh\n' })
})

test('systemHost.runProgram rejects when there is no such program, and when the signal ends it', async () => {
  await expect(systemHost().runProgram({ ...call(''), command: '/no/such/program' })).rejects.toMatchObject({
    code: 'ENOENT',
  })
  const stop = new AbortController()
  const run = systemHost().runProgram({
    ...call('process.stdin.resume(); setInterval(() => 0, 1000)'),
    signal: stop.signal,
  })
  stop.abort(new Error('enough'))
  await expect(run).rejects.toThrow('aborted')
})

test('systemHost.readFile says by its code that a file is not there', async () => {
  await expect(systemHost().readFile('/no/such/file')).rejects.toMatchObject({ code: 'ENOENT' })
})
