"""Names that the compiler might want for itself."""

from tests.harness import floats, program


@program(
    x=floats(4), x_bar=floats(4), flat=floats(4), lambda_=floats(4), f64=floats(4), t=floats(4)
)
def of_parameters(x, x_bar, flat, lambda_, f64, t):
    for i in x:
        n_x = x[i] * x_bar[i]
        v_0 = n_x * flat[i]
        range_ = v_0 * lambda_[i]
        f32 = range_ * f64[i]
        t[i] = f32 * f32


@program(x=floats(4), y=floats(4))
def of_locals(x, y):
    for i in x:
        x_ = x[i]
        y_bar = x_ * x_
        t = y_bar * x_
        t_1 = t * t
        n = 0.5
        top = t_1
        back = 1.0
        for position in range(40):
            kept_at = back * x_
            back = kept_at * n + top
        y[i] = back


@program(x=floats(4), y=floats(4))
def of_taichi(x, y):
    for i in x:
        ti = x[i] * x[i]
        range_ = ti * x[i]
        int_ = range_ + 1
        y[i] = ti * range_ * int_
