/** The files of this machine, watched. Waits for events, never for time. */
import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SimulatedClock, SystemClock } from 'evenkeel/unstable/base'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { OsFileWatcher } from './os-file-watcher.ts'

function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'evenkeel-watch-')))
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

function write(path: string, text = 'x'): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Watches paths, and collects what changed. */
function watching(paths: readonly string[], { ignore = [] as readonly string[] } = {}) {
  const changed: string[] = []
  const problems: string[] = []
  const close = new OsFileWatcher({ clock: new SystemClock() }).changes.watch(
    { paths, ignore },
    { onChange: (path) => changed.push(path), onProblem: (message) => problems.push(message) },
  )
  onTestFinished(close)
  return {
    changed,
    problems,
    async until(path: string): Promise<void> {
      await vi.waitFor(
        () => {
          expect(changed).toContain(path)
        },
        { timeout: 60_000, interval: 10 },
      )
      changed.length = 0
    },
  }
}

describe('watched files of this machine', () => {
  test('W25: a write, a new file, a removed one, in a folder and below, also in one that is new', async () => {
    const folder = makeFolder()
    write(join(folder, 'a/b/old.ts'))
    const seen = watching([folder])
    write(join(folder, 'a/b/old.ts'), 'y')
    await seen.until(join(folder, 'a/b/old.ts'))
    write(join(folder, 'new/deep/c.ts'))
    await seen.until(join(folder, 'new'))
    write(join(folder, 'new/deep/c.ts'), 'y')
    await seen.until(join(folder, 'new/deep/c.ts'))
    rmSync(join(folder, 'a/b/old.ts'))
    await seen.until(join(folder, 'a/b/old.ts'))
  })

  test('W25: a file that an editor saves by renaming another one, again and again', async () => {
    const folder = makeFolder()
    const path = join(folder, 'server.ts')
    write(path)
    const seen = watching([path])
    for (const text of ['1', '2', '3']) {
      write(join(folder, 'server.ts.new'), text)
      renameSync(join(folder, 'server.ts.new'), path)
      await seen.until(path)
    }
    write(join(folder, 'other.ts'))
    write(path, '4')
    await seen.until(path)
  })

  test('W25: ignored folders are not watched', async () => {
    const folder = makeFolder()
    write(join(folder, 'node_modules/a/index.js'))
    const seen = watching([folder], { ignore: ['node_modules', '*.log'] })
    write(join(folder, 'node_modules/a/index.js'), 'y')
    write(join(folder, 'node_modules/b/index.js'), 'y')
    write(join(folder, 'x.log'))
    write(join(folder, 'last.ts'))
    await vi.waitFor(() => {
      expect(seen.changed).toContain(join(folder, 'last.ts'))
    }, 60_000)
    expect(new Set(seen.changed)).toEqual(new Set([join(folder, 'last.ts')]))
  })

  test('W25: symbolic links to folders and files; a loop of them ends', async () => {
    const [folder, elsewhere] = [makeFolder(), makeFolder()]
    write(join(elsewhere, 'lib/a.ts'))
    write(join(elsewhere, 'one/b.ts'))
    symlinkSync(join(elsewhere, 'lib'), join(folder, 'lib'))
    symlinkSync(folder, join(folder, 'self'))
    symlinkSync(join(elsewhere, 'one/b.ts'), join(folder, 'b.ts'))
    const seen = watching([join(folder, 'b.ts'), folder])
    write(join(elsewhere, 'lib/a.ts'), 'y')
    await seen.until(join(folder, 'lib/a.ts'))
    write(join(elsewhere, 'one/b.ts'), 'y')
    await seen.until(join(folder, 'b.ts'))
  })

  test('W25: a folder that is removed and made again, and one that does not exist yet', async () => {
    const folder = makeFolder()
    const src = join(folder, 'app/src')
    const seen = watching([src])
    write(join(src, 'a.ts'))
    await seen.until(src)
    write(join(src, 'a.ts'), 'y')
    await seen.until(join(src, 'a.ts'))
    rmSync(src, { recursive: true })
    await seen.until(src)
    write(join(src, 'b.ts'))
    await seen.until(src)
    write(join(src, 'b.ts'), 'y')
    await seen.until(join(src, 'b.ts'))
  })

  test('W25: when the limit of watches is reached that is said, and the files are compared', async () => {
    const folder = makeFolder()
    write(join(folder, 'a.ts'))
    write(join(folder, 'gone.ts'))
    const clock = new SimulatedClock()
    const changed: string[] = []
    const problems: string[] = []
    const watchFolder = () => {
      throw Object.assign(new Error('System limit for number of file watchers reached'), { code: 'ENOSPC' })
    }
    const close = new OsFileWatcher({ clock, watchFolder }).changes.watch(
      { paths: [folder], ignore: ['*.log'] },
      { onChange: (path) => changed.push(path), onProblem: (message) => problems.push(message) },
    )
    expect(problems).toEqual([expect.stringContaining('the limit of watches is reached (fs.inotify.max_user_watches)')])
    await clock.advance(2000)
    expect(changed).toEqual([])
    write(join(folder, 'a.ts'), 'longer')
    write(join(folder, 'new/b.ts'))
    write(join(folder, 'c.log'))
    rmSync(join(folder, 'gone.ts'))
    await clock.advance(2000)
    expect(changed.sort()).toEqual([join(folder, 'a.ts'), join(folder, 'gone.ts'), join(folder, 'new/b.ts')])
    close()
    write(join(folder, 'a.ts'), 'again')
    await clock.advance(10_000)
    expect(changed).toHaveLength(3)
  })

  test('the newest file is found, without those that are ignored', async () => {
    const folder = makeFolder()
    for (const [name, seconds] of [
      ['a.ts', 1000],
      ['b.ts', 3000],
      ['c.log', 9000],
    ] as const) {
      write(join(folder, name))
      utimesSync(join(folder, name), seconds, seconds)
    }
    const watcher = new OsFileWatcher({ clock: new SystemClock() })
    expect(await watcher.findNewest({ paths: [folder], ignore: ['*.log'] })).toEqual({
      path: join(folder, 'b.ts'),
      atMs: 3_000_000,
    })
    expect(await watcher.findNewest({ paths: [join(folder, 'none')], ignore: [] })).toBeUndefined()
  })
})
