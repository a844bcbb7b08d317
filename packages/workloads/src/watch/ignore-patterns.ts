/**
 * Which changed files mean nothing: patterns as in `.gitignore`, without its exceptions.
 *
 *   node_modules    a name: this file or folder, wherever it is
 *   *.log           the same with `*` and `?`
 *   dist/           the same as dist
 *   src/gen/**      with a slash: from a watched path on; `**` also matches slashes
 *
 * What is in an ignored folder is ignored.
 */
import { relative, sep } from 'node:path'

/** Written by tools and editors beside the files that people change. */
export const defaultIgnored: readonly string[] = [
  'node_modules',
  '.git',
  '.hg',
  '.svn',
  '.DS_Store',
  '__pycache__',
  '*.swp',
  '*.swx',
  '*~',
  '.#*',
  '#*#',
  '4913',
]

export type IgnoreTest = (path: string) => boolean

/** Whether a path is ignored: below a root by patterns, anywhere below a folder of `folders`. */
export function ignoreTest(roots: readonly string[], patterns: readonly string[]): IgnoreTest {
  const cleaned = patterns.map((pattern) => pattern.replace(/\/+$/, ''))
  const names = cleaned.filter((pattern) => !pattern.includes('/')).map(toExpression)
  const absolute = cleaned.filter((pattern) => pattern.startsWith('/'))
  const paths = cleaned
    .filter((pattern) => pattern.includes('/') && !pattern.startsWith('/'))
    .map((pattern) => toExpression(pattern.replace(/^\.\//, '')))
  return (path) => {
    if (absolute.some((folder) => path === folder || path.startsWith(`${folder}/`))) return true
    return roots.some((root) => {
      const below = relative(root, path)
      if (below === '' || below.startsWith('..')) return false
      const parts = below.split(sep)
      return (
        parts.some((part) => names.some((name) => name.test(part))) ||
        parts.some((_, index) => paths.some((one) => one.test(parts.slice(0, index + 1).join('/'))))
      )
    })
  }
}

function toExpression(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (each) => {
    if (each === '**/') return '(?:.*/)?'
    if (each === '**') return '.*'
    if (each === '*') return '[^/]*'
    return each === '?' ? '[^/]' : `\\${each}`
  })
  return new RegExp(`^${source}$`)
}
