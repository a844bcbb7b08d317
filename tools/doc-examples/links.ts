/**
 * Broken links of a page: to a missing file, or to a missing heading.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readPage, root } from './pages.ts'

/** Each as `page:line target`. Links to other sites are ignored. */
export function brokenLinks(page: string, text: string): readonly string[] {
  return withoutFences(text).flatMap((line, index) =>
    [...line.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) =>
      isBroken(page, target) ? [`${page}:${index + 1} ${target}`] : [],
    ),
  )
}

function isBroken(page: string, target: string): boolean {
  if (/^[a-z]+:/.test(target)) return false
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, file))) return true
  return anchor !== undefined && file.endsWith('.md') && !anchorsOf(readPage(file)).has(anchor)
}

/** The anchors of headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = withoutFences(text).flatMap((line) => /^#+ (.*)$/.exec(line)?.[1] ?? [])
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** The lines, with those of fences emptied. */
function withoutFences(text: string): readonly string[] {
  let isInside = false
  return text.split('\n').map((line) => {
    if (!line.startsWith('```')) return isInside ? '' : line
    isInside = !isInside
    return ''
  })
}
