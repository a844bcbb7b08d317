import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readTokenFile } from './static-tokens.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'token-file-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function read(text: string): ReturnType<typeof readTokenFile> {
  const path = join(folder, 'tokens.csv')
  await writeFile(path, text)
  return readTokenFile(path)
}

test('readTokenFile reads token, user, uid and groups, quoted or not', async () => {
  expect(await read('t1,ann,1,"a,b"\nt2,"bo ""b""",2\r\n\nt3,cy,,dev\n,nobody,4\nt4,"two\nlines",5,"g,"')).toEqual([
    { token: 't1', user: { name: 'ann', uid: '1', groups: ['a', 'b'] } },
    { token: 't2', user: { name: 'bo "b"', uid: '2', groups: [] } },
    { token: 't3', user: { name: 'cy', groups: ['dev'] } },
    { token: 't4', user: { name: 'two\nlines', uid: '5', groups: ['g', ''] } },
  ])
  expect(await read('')).toEqual([])
})

test('readTokenFile says which line is wrong, and never what is in it', async () => {
  await expect(read('a,b,c\nsecret,b')).rejects.toThrow(
    /^line 2 of .*tokens.csv must have at least 3 columns \(token, user name, user uid\), found 2$/,
  )
  await expect(read('a,b,c\nsecret,"b,c')).rejects.toThrow(/^line 2 of .*tokens.csv has a quote where none belongs$/)
  await expect(read('a,b"c,d')).rejects.toThrow(RangeError)
})
