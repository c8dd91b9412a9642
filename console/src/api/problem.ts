// Refusals of the API (RFC 9457), decoded once and shown everywhere in the same way.

export interface FieldProblem {
  field: string;
  message: string;
}

interface ProblemBody {
  detail?: unknown;
  code?: unknown;
  help?: unknown;
  errors?: unknown;
  requestID?: unknown;
}

export class Problem extends Error {
  readonly sentence: string;
  readonly reason: string;
  readonly help: string;
  readonly requestId: string;
  readonly status: number;
  readonly errors: FieldProblem[];

  constructor(parts: Partial<Omit<Problem, 'name' | 'message'>> & { sentence: string }) {
    super(parts.sentence);
    this.name = 'Problem';
    this.sentence = parts.sentence;
    this.reason = parts.reason ?? '';
    this.help = parts.help ?? '';
    this.requestId = parts.requestId ?? '';
    this.status = parts.status ?? 0;
    this.errors = parts.errors ?? [];
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function fieldProblems(value: unknown): FieldProblem[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null)
    .map((one) => ({ field: text(one.field), message: text(one.message) }));
}

/** The refusal in an answer. A body that is not ours (of a proxy, say) leaves the status alone to go by. */
export async function decodeProblem(response: Response): Promise<Problem> {
  const body = (await response.json().catch(() => ({}))) as ProblemBody;
  return new Problem({
    sentence: text(body.detail) || `The API answered ${response.status} ${response.statusText}`.trim(),
    reason: text(body.code),
    help: text(body.help),
    requestId: response.headers.get('X-Request-Id') ?? text(body.requestID),
    status: response.status,
    errors: fieldProblems(body.errors),
  });
}

/** No answer came at all. */
export function unreachable(): Problem {
  return new Problem({
    sentence: 'The API cannot be reached.',
    reason: 'unreachable',
    help: 'The page asks again by itself.',
  });
}

/** No answer came in time. */
export function silent(): Problem {
  return new Problem({
    sentence: 'The API does not answer.',
    reason: 'no_answer',
    help: 'A change may have been made: look before you make it again.',
  });
}

/** Whatever was thrown, as a refusal to show. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({ sentence: error instanceof Error ? error.message : String(error), reason: 'page_error' });
}

/** Whether the same may be answered later: the way there, or the master that leads, was lost. */
export const mayPass = (error: unknown): boolean => [0, 502, 503, 504].includes(asProblem(error).status);
