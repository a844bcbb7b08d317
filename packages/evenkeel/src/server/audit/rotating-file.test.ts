import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, SimulatedClock } from '#base'
import { auditBackups, RotatingFile } from './rotating-file.ts'

let folder = ''
let path = ''
let clock: SimulatedClock

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evenkeel-audit-'))
  path = join(folder, 'audit.log')
  clock = new SimulatedClock()
})

afterEach(() => rm(folder, { recursive: true }))

function openFile(
  options: { bytesMax?: number; backupsMax?: number; ageMaxMs?: number; bufferBytesMax?: number } = {},
): Promise<RotatingFile> {
  return RotatingFile.open({ path, ...options }, { clock, log: silentLogger, seal: (line) => line })
}

async function total(): Promise<number> {
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

describe('RotatingFile', () => {
  test('writes lines in order, for its owner only, and goes on where it was', async () => {
    for (const start of ['a', 'b']) {
      const file = await openFile()
      for (let index = 0; index < 3; index++) file.write(`${start}${index}`)
      await file.close()
    }
    expect(await readFile(path, 'utf8')).toBe('a0\na1\na2\nb0\nb1\nb2\n')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test('row 26: never takes more disk than it was given, whatever is written', async () => {
    const file = await openFile({ bytesMax: 1000, backupsMax: 3 })
    for (let round = 0; round < 40; round++) {
      for (let index = 0; index < 20; index++) file.write(`line ${round} ${index} ${'x'.repeat(40)}`)
      await clock.advance(1)
      await file.idle()
      expect(await total()).toBeLessThanOrEqual(4 * 1000)
    }
    await file.close()
    expect(await auditBackups(path)).toHaveLength(3)
    const text = (await Promise.all([...(await auditBackups(path)), path].map((one) => readFile(one, 'utf8')))).join('')
    const numbers = text
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.split(' ')[1]) * 20 + Number(line.split(' ')[2]))
    expect(numbers).toEqual(numbers.map((_, index) => index + (numbers[0] ?? 0)))
    expect(numbers.at(-1)).toBe(799)
  })

  test('row 26: never takes more memory than it was given: what comes while the disk is slow is dropped and counted', async () => {
    const file = await openFile({ bufferBytesMax: 1000 })
    for (let index = 0; index < 100; index++) file.write('x'.repeat(99))
    expect(file.dropped).toBe(90)
    await file.close()
    expect(await total()).toBe(1000)
    file.write('too late')
    expect(file.dropped).toBe(91)
  })

  test('row 26: outlives a disk that refuses, and writes when it no longer does', async () => {
    const file = await openFile({ bytesMax: 10 })
    file.write('first line')
    await file.idle()
    await rm(folder, { recursive: true })
    file.write('second line')
    for (let attempt = 0; attempt < 3; attempt++) {
      while (clock.pending === 0) await clock.advance(0)
      await clock.advance(1000)
    }
    while (clock.pending === 0) await clock.advance(0)
    await mkdir(folder)
    await clock.advance(1000)
    await file.idle()
    expect(await readFile(path, 'utf8')).toBe('second line\n')
    await file.close()
  })

  test('deletes old files by age', async () => {
    const file = await openFile({ bytesMax: 10, ageMaxMs: 60_000 })
    for (let index = 0; index < 5; index++) {
      file.write('0123456789')
      await file.idle()
      await clock.advance(25_000)
    }
    await file.close()
    expect(await auditBackups(path)).toHaveLength(3)
  })

  test('keeps half a line that a crash left apart from what follows', async () => {
    await appendFile(path, 'whole\nhal')
    const file = await openFile()
    file.write('next')
    await file.close()
    const [backup = ''] = await auditBackups(path)
    expect([await readFile(backup, 'utf8'), await readFile(path, 'utf8')]).toEqual(['whole\nhal', 'next\n'])
  })

  test('writes through no link that somebody put there', async () => {
    await writeFile(join(folder, 'victim'), '')
    await symlink(join(folder, 'victim'), path)
    await expect(openFile()).rejects.toThrow(/ELOOP/)
  })

  test('refuses sizes that are none', async () => {
    for (const options of [{ bytesMax: 0 }, { backupsMax: -1 }, { bufferBytesMax: 0.5 }])
      await expect(openFile(options)).rejects.toThrow(RangeError)
  })
})
