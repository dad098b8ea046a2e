import { ApiProblem } from '@plinth/sdk/api-problem';
import { isRefusal } from './refusal';

describe('a definition that is not accepted', () => {
  const problem = (status: number) =>
    new ApiProblem({ type: '', title: '', status, detail: '' } as ApiProblem['problem'], undefined);

  it.each([400, 403, 409, 413, 422])('is refused with %i', (status) => {
    expect(isRefusal(problem(status))).toBe(true);
  });

  it.each([401, 408, 429, 500, 503])('is judged again after %i', (status) => {
    expect(isRefusal(problem(status))).toBe(false);
  });

  it('is judged again after a connection that was lost', () => {
    expect(isRefusal(new TypeError('fetch failed'))).toBe(false);
  });
});
