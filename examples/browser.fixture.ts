/**
 * A headless browser for tests, controlled through pipes: no packages, no ports. Undefined when none is installed.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** The path of a browser, or undefined. */
export function findBrowser(): string | undefined {
  return names.find((name) => spawnSync(name, ['--version'], { timeout: 20_000 }).status === 0)
}

interface Reply {
  readonly id?: number
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

export class Browser {
  readonly #process: ChildProcess
  readonly #folder: string
  readonly #waiting = new Map<
    number,
    { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }
  >()
  #next = 1
  #rest = ''

  constructor(path: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'evenkeel-browser-'))
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--hide-scrollbars',
      // Grey edges of letters: the same everywhere, and smaller pictures.
      '--disable-lcd-text',
      '--no-first-run',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--remote-debugging-pipe',
      `--user-data-dir=${this.#folder}`,
    ]
    this.#process = spawn(path, flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
    const answers = this.#process.stdio[4] as Readable
    answers.setEncoding('utf8')
    answers.on('data', (text: string) => {
      this.#read(text)
    })
    this.#process.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the browser is gone'))
    })
  }

  /** A page of this size, at an address. */
  async open(url: string, { width, height }: { width: number; height: number }): Promise<OpenPage> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    const page = new OpenPage((method, parameters) => this.send(method, parameters, String(sessionId)))
    await page.size(width, height)
    await page.go(url)
    return page
  }

  send(method: string, parameters: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = this.#next++
    const text = JSON.stringify({ id, method, params: parameters, ...(sessionId !== undefined && { sessionId }) })
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      ;(this.#process.stdio[3] as Writable).write(`${text}\0`)
    })
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => {
      this.#process.once('exit', resolve)
    })
    this.#process.kill('SIGKILL')
    await gone
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  #read(text: string): void {
    const parts = (this.#rest + text).split('\0')
    this.#rest = parts.pop() ?? ''
    for (const part of parts) {
      const { id, result, error } = JSON.parse(part) as Reply
      const waiting = id === undefined ? undefined : this.#waiting.get(id)
      if (id === undefined || !waiting) continue
      this.#waiting.delete(id)
      if (error) waiting.reject(new Error(error.message))
      else waiting.resolve(result ?? {})
    }
  }
}

type Send = (method: string, parameters?: object) => Promise<Record<string, unknown>>

export class OpenPage {
  readonly #send: Send

  constructor(send: Send) {
    this.#send = send
  }

  async size(width: number, height: number): Promise<void> {
    await this.#send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
  }

  async go(url: string): Promise<void> {
    await this.#send('Page.enable')
    await this.#send('Page.navigate', { url })
    // A page with a script says when it shows something.
    await this.until(
      'document.readyState === "complete" && location.href !== "about:blank" && (document.body.dataset.ready === "yes" || !document.querySelector("script"))',
    )
  }

  /** Evaluates an expression in the page. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = (await this.#send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    })) as { result: { value: T }; exceptionDetails?: { text: string } }
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.text}`)
    return result.value
  }

  /** Waits inside the page until an expression is true; checks after every frame. */
  async until(expression: string): Promise<void> {
    await this.evaluate(
      `new Promise((resolve, reject) => { let frames = 0; const look = () => { try { if (${expression}) return resolve(true) } catch {} if (++frames > 1500) return reject(new Error('it never came true')); setTimeout(look, 20) }; look() })`,
    ).catch(async (error: unknown) => {
      const text = await this.evaluate<string>('document.body.innerText').catch(() => '')
      throw new Error(`${expression} did not come true; the page says:\n${text}`, { cause: error })
    })
  }

  /** Shows the light or the dark form of the page. */
  async prefer(scheme: 'light' | 'dark'): Promise<void> {
    await this.#send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
  }

  async click(selector: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`)
  }

  /** The window, or the whole page, as a picture. */
  async screenshot({ isWhole = false }: { isWhole?: boolean } = {}): Promise<Buffer> {
    const [width, height] = await this.evaluate<[number, number]>(
      '[document.documentElement.clientWidth, Math.ceil(document.body.getBoundingClientRect().bottom)]',
    )
    const clip = isWhole && { captureBeyondViewport: true, clip: { x: 0, y: 0, width, height, scale: 1 } }
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png', ...clip })
    return Buffer.from(String(data), 'base64')
  }
}
