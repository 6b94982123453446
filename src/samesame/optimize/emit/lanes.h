// Lanes: what printed kernels are written in. A vec<T, W> is W numbers side by side; operators act on all of them.
// Functions take a number or a vec alike, so that a loop reads the same whether its rounds are lanes or not.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace {

#define INLINE static inline __attribute__((always_inline))

template <class T, int W> struct lanes_of { typedef T type __attribute__((vector_size(W * sizeof(T)))); };
template <class T, int W> using vec = typename lanes_of<T, W>::type;
template <class V> using element = std::remove_cv_t<std::remove_reference_t<decltype(std::declval<V&>()[0])>>;
template <class V> constexpr bool single = std::is_arithmetic_v<V>;
template <class V> constexpr int width = sizeof(V) / sizeof(element<V>);

// ------------------------------------------------------------------------------------------------- numbers in memory

struct bf16 { uint16_t bits; };                      // the upper half of a float; stores round to nearest, ties to even

template <class To, class From> INLINE To bits(From x) { To y; static_assert(sizeof x == sizeof y); memcpy(&y, &x, sizeof y); return y; }

INLINE float get(const float* p) { return *p; }
INLINE double get(const double* p) { return *p; }
INLINE long get(const int64_t* p) { return *p; }
INLINE int get(const int32_t* p) { return *p; }
INLINE int get(const int16_t* p) { return *p; }
INLINE int get(const int8_t* p) { return *p; }
INLINE int get(const uint8_t* p) { return *p; }
INLINE int get(const bool* p) { return *p; }
INLINE float get(const bf16* p) { return bits<float>(uint32_t(p->bits) << 16); }

// What a loop reads from front to back is fetched into the second cache a page ahead: machines foresee less than that.
template <class T> INLINE const T* soon(const T* p) { __builtin_prefetch((const char*)p + 4096, 0, 2); return p; }

// W numbers of 8 or 16 bits as ints. Machines have one instruction for it, of which g++ knows only by name.
template <int W, class T> INLINE vec<int, W> in_pieces(const T* p) {
    vec<T, W> x; memcpy(&x, p, sizeof x);
    return __builtin_convertvector(x, vec<int, W>);
}
#if defined(__AVX2__) && defined(__GNUC__) && !defined(__clang__)
template <class Bits, class V> INLINE V first(const void* p) {                  // in the lower part of a register
    Bits x; memcpy(&x, p, sizeof x);
    return bits<V>(vec<Bits, 16 / sizeof x>{x});
}
template <int W, class T> INLINE vec<int, W> widened(const T* p) {
    using bytes = vec<char, 16>; using shorts = vec<short, 8>;
    constexpr bool byte = sizeof(T) == 1, plus = std::is_unsigned_v<T>;
    if constexpr (W == 4 && byte) { auto x = first<int, bytes>(p); return plus ? __builtin_ia32_pmovzxbd128(x) : __builtin_ia32_pmovsxbd128(x); }
    else if constexpr (W == 4) { auto x = first<long, shorts>(p); return plus ? __builtin_ia32_pmovzxwd128(x) : __builtin_ia32_pmovsxwd128(x); }
    else if constexpr (W == 8 && byte) { auto x = first<long, bytes>(p); return plus ? __builtin_ia32_pmovzxbd256(x) : __builtin_ia32_pmovsxbd256(x); }
    else if constexpr (W == 8) { shorts x; memcpy(&x, p, sizeof x); return plus ? __builtin_ia32_pmovzxwd256(x) : __builtin_ia32_pmovsxwd256(x); }
#if defined(__AVX512F__)
    else if constexpr (W == 16 && byte) {
        bytes x; memcpy(&x, p, sizeof x);
        return plus ? __builtin_ia32_pmovzxbd512_mask(x, vec<int, 16>{}, -1) : __builtin_ia32_pmovsxbd512_mask(x, vec<int, 16>{}, -1);
    } else if constexpr (W == 16) {
        vec<short, 16> x; memcpy(&x, p, sizeof x);
        return plus ? __builtin_ia32_pmovzxwd512_mask(x, vec<int, 16>{}, -1) : __builtin_ia32_pmovsxwd512_mask(x, vec<int, 16>{}, -1);
    }
#endif
    else return in_pieces<W>(p);
}
#else
template <int W, class T> INLINE vec<int, W> widened(const T* p) { return in_pieces<W>(p); }
#endif
template <int W, class T> INLINE auto load(const T* p) {
    if constexpr (std::is_same_v<T, bf16>) return bits<vec<float, W>>(bits<vec<uint32_t, W>>(widened<W>((const uint16_t*)p)) << 16);
    else if constexpr (std::is_same_v<T, bool>) return widened<W>((const uint8_t*)p);
    else if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int)) return widened<W>(p);
    else { vec<T, W> x; memcpy(&x, p, sizeof x); return x; }
}
// Numbers with small gaps between them: runs of all there is, the last of which ends with the last number.
template <int Begin, int First, int Stride, class V, size_t... I> INLINE V filled(V x, V run, std::index_sequence<I...>) {
    return __builtin_shufflevector(x, run, (I * Stride >= First && I * Stride < Begin + sizeof...(I) ? sizeof...(I) + I * Stride - Begin : I)...);
}
template <int Run, int Stride, int W, class V, class T> INLINE V near(V x, const T* p) {
    constexpr int first = Run * W, begin = Run < Stride - 1 ? first : (W - 1) * (Stride - 1);
    V y = filled<begin, first, Stride>(x, load<W>(p + begin), std::make_index_sequence<W>());
    if constexpr (Run < Stride - 1) return near<Run + 1, Stride, W>(y, p);
    else return y;
}
template <int W, int N = W, class T> INLINE auto gather(const T* p, long stride) {
    vec<decltype(get(p)), W> x{};
#if defined(__GNUC__) && !defined(__clang__)
    if constexpr (W > 1 && N == W && sizeof(T) >= 4) {
        if (__builtin_constant_p(stride) && stride == 2) return near<0, 2, W>(load<W>(p), p);
        if (__builtin_constant_p(stride) && stride == 3) return near<0, 3, W>(load<W>(p), p);
        if (W > 2 && __builtin_constant_p(stride) && stride == 4) return near<0, 4, W>(load<W>(p), p);
    }
#endif
    for (int i = 0; i < N; ++i) x[i] = get(p + i * stride);
    return x;
}

template <class T, class V> INLINE void put(T* p, V x) {
    if constexpr (single<V>) *p = T(x);
    else if constexpr (std::is_same_v<T, bool>) for (int i = 0; i < width<V>; ++i) p[i] = x[i] != 0;
    else { auto y = __builtin_convertvector(x, vec<T, width<V>>); memcpy(p, &y, sizeof y); }
}
INLINE void put(bf16* p, float x) {
    uint32_t u = bits<uint32_t>(x);
    p->bits = x == x ? uint16_t((u + 0x7fff + ((u >> 16) & 1)) >> 16) : uint16_t(0x7fc0);
}
INLINE void put(bf16* p, double x) { put(p, float(x)); }
template <class V, class = std::enable_if_t<!single<V>>> INLINE void put(bf16* p, V given) {
    auto x = __builtin_convertvector(given, vec<float, width<V>>);
    using U = vec<uint32_t, width<V>>;
    U u = bits<U>(x), r = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
    auto y = __builtin_convertvector(x == x ? r : U{} + 0x7fc0, vec<uint16_t, width<V>>);
    memcpy(p, &y, sizeof y);
}
template <int N, class T, class V> INLINE void scatter(T* p, long stride, V x) {
    for (int i = 0; i < N; ++i) put(p + i * stride, x[i]);
}
template <class T, class V> INLINE void scatter(T* p, long stride, V x) { scatter<width<V>>(p, stride, x); }
// Few vectors whose elements stand beside one another in memory: the parts of complex numbers, coordinates of points.
template <int First, class V, size_t... I> INLINE V in_turns(V x, V y, std::index_sequence<I...>) {
    return __builtin_shufflevector(x, y, (First + I / 2 + I % 2 * sizeof...(I))...);
}
template <int First, class V> INLINE V in_turns(V x, V y) { return in_turns<First>(x, y, std::make_index_sequence<width<V>>()); }
template <int Third, class V, size_t... I> INLINE V third(V x, V y, V z, std::index_sequence<I...>) {
    constexpr size_t w = sizeof...(I), from = Third * w;
    V both = __builtin_shufflevector(x, y, ((from + I) / 3 + ((from + I) % 3 == 1 ? w : 0))...);
    return __builtin_shufflevector(both, z, ((from + I) % 3 == 2 ? (from + I) / 3 + w : I)...);
}
template <class T, class V> INLINE void beside(T* p, V x, V y) {
    put(p, in_turns<0>(x, y));
    put(p + width<V>, in_turns<width<V> / 2>(x, y));
}
template <class T, class V> INLINE void beside(T* p, V x, V y, V z) {
    constexpr auto all = std::make_index_sequence<width<V>>();
    put(p, third<0>(x, y, z, all));
    put(p + width<V>, third<1>(x, y, z, all));
    put(p + 2 * width<V>, third<2>(x, y, z, all));
}
template <class T, class V> INLINE void beside(T* p, V x, V y, V z, V w) {
    beside(p, in_turns<0>(x, z), in_turns<0>(y, w));
    beside(p + 2 * width<V>, in_turns<width<V> / 2>(x, z), in_turns<width<V> / 2>(y, w));
}

// Two rounds of a sum of products of bf16 at once: neighbours of x, the same for all lanes, and two runs of w. Or two
// neighbours in each lane.
template <int W> INLINE vec<uint32_t, W> both(const bf16* x) { uint32_t u; memcpy(&u, x, sizeof u); return vec<uint32_t, W>{} + u; }
template <int W> INLINE vec<uint32_t, W> two(const bf16* x) { vec<uint32_t, W> u; memcpy(&u, x, sizeof u); return u; }
template <class V, size_t... I> INLINE auto in_turn(V one, V other, std::index_sequence<I...>) {
    return __builtin_shufflevector(one, other, (I / 2 + I % 2 * width<V>)...);
}
template <int W> INLINE vec<uint32_t, W> both(const bf16* w, const bf16* next) {
    vec<uint16_t, W> one, other;
    memcpy(&one, w, sizeof one); memcpy(&other, next, sizeof other);
    return bits<vec<uint32_t, W>>(in_turn(one, other, std::make_index_sequence<2 * W>()));
}
template <class V, class U> INLINE V dot(V sum, U x, U w) {
#if defined(__AVX512BF16__)
    if constexpr (width<V> == 16) { asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w)); return sum; }
#endif
    sum += bits<V>(x & 0xffff0000u) * bits<V>(w & 0xffff0000u);
    return sum + bits<V>(x << 16) * bits<V>(w << 16);
}

// --------------------------------------------------------------------------------------------- from one form to another

template <int W, class T> INLINE vec<T, W> all(T x) { return vec<T, W>{} + x; }
template <int W, class T> INLINE vec<T, W> ramp(T start, long step) {
    vec<T, W> x;
    for (int i = 0; i < W; ++i) x[i] = start + i * step;
    return x;
}
template <class T, class V> INLINE auto to(V x) {
    if constexpr (single<V>) return T(x);
    else return __builtin_convertvector(x, vec<T, width<V>>);
}
template <size_t First, class V, size_t... I> INLINE auto picked(V x, std::index_sequence<I...>) {
    return __builtin_shufflevector(x, x, (First + I)...);
}
template <int W, int First, class V> INLINE auto part(V x) {                             // W lanes out of more
    if constexpr (W == 1) return vec<element<V>, 1>{x[First]};
    else return picked<First>(x, std::make_index_sequence<W>());     // copied as bytes, it would stay in memory
}
template <class V> INLINE auto mask(V x) {                                               // of a comparison: 0 or -1 each
    if constexpr (single<V>) return x;
    else return __builtin_convertvector(x, vec<int, width<V>>);
}
// What is wider than a register is taken apart: compilers compare it number by number. (Integers of 64 bits, of which
// there are as many as of floats.)
#if defined(__AVX512F__)
constexpr size_t REGISTER = 64;
#elif defined(__AVX2__)
constexpr size_t REGISTER = 32;
#else
constexpr size_t REGISTER = 16;
#endif
template <class V, size_t... I> INLINE auto joined(V one, V other, std::index_sequence<I...>) {
    return __builtin_shufflevector(one, other, I...);
}
// At a loop's ragged end: the first N of W numbers in memory, or lanes, alone. Others are zero, or what is said.
template <int W, int N, class T> INLINE auto load(const T* p) {
    if constexpr (N == W) return load<W>(p);
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
    else if constexpr (W == 16 && std::is_same_v<T, float>) return (vec<float, 16>)__builtin_ia32_loadups512_mask(p, vec<float, 16>{}, (1 << N) - 1);
#endif
    else {
        auto x = load<W / 2, N < W / 2 ? N : W / 2>(p);
        if constexpr (N <= W / 2) return joined(x, decltype(x){}, std::make_index_sequence<W>());
        else return joined(x, load<W / 2, N - W / 2>(p + W / 2), std::make_index_sequence<W>());
    }
}
template <int N, class T, class V> INLINE void put(T* p, V x) {
    constexpr int half = width<V> / 2;
    if constexpr (N == width<V>) put(p, x);
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
    else if constexpr (std::is_same_v<T, float> && std::is_same_v<V, vec<float, 16>>) __builtin_ia32_storeups512_mask(p, x, (1 << N) - 1);
#endif
    else if constexpr (N <= half) put<N>(p, part<half, 0>(x));
    else { put(p, part<half, 0>(x)); put<N - half>(p + half, part<half, half>(x)); }
}
template <int N, class V, size_t... I> INLINE V first(V x, V rest, std::index_sequence<I...>) {
    return __builtin_shufflevector(x, rest, (I < N ? I : width<V> + I)...);
}
template <int N, class V> INLINE V only(V x, element<V> rest) {
    return first<N>(x, all<width<V>>(rest), std::make_index_sequence<width<V>>());
}
template <int W, class V> INLINE auto extended(V x, element<V> rest) {
    if constexpr (width<V> == W) return x;
    else return extended<W>(joined(x, all<width<V>>(rest), std::make_index_sequence<2 * width<V>>()), rest);
}
template <class F, class V, class... Vs> INLINE auto piecewise(F f, V x, Vs... y) {
    if constexpr (sizeof(V) <= REGISTER) return f(x, y...);
    else {
        constexpr int half = width<V> / 2;
        return joined(piecewise(f, part<half, 0>(x), part<half, 0>(y)...),
                      piecewise(f, part<half, half>(x), part<half, half>(y)...), std::make_index_sequence<width<V>>());
    }
}
template <class V, class F> INLINE auto truths(V x, V y, F of) { return piecewise([of](auto x, auto y) { return mask(of(x, y)); }, x, y); }
template <class V> INLINE V choose(bool c, V x, V y) { return c ? x : y; }
template <class M, class V, class = std::enable_if_t<!single<M>>> INLINE V choose(M m, V x, V y) {
    if constexpr (sizeof(element<V>) == 8)
        return piecewise([](auto x, auto y, auto m) { return __builtin_convertvector(m, vec<int64_t, width<decltype(x)>>) ? x : y; }, x, y, m);
    else return m ? x : y;
}

// -------------------------------------------------------------------------------------------------------------- monoids

// A maximum with a NaN is NaN, as in torch.
template <class V> INLINE V largest(V x, V y) {
    if constexpr (single<V>) return (y > x) | (y != y) ? y : x;
    else return piecewise([](auto x, auto y) { return (y > x) | (y != y) ? y : x; }, x, y);
}
template <class V> INLINE V smallest(V x, V y) {
    if constexpr (single<V>) return (y < x) | (y != y) ? y : x;
    else return piecewise([](auto x, auto y) { return (y < x) | (y != y) ? y : x; }, x, y);
}

struct sum { template <class V> INLINE V fold(V x, V y) { return x + y; } template <class T> static constexpr T identity = 0; };
struct max {
    template <class V> INLINE V fold(V x, V y) { return largest(x, y); }
    template <class T> static constexpr T identity = std::is_integral_v<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
};
struct min { template <class V> INLINE V fold(V x, V y) { return smallest(x, y); } };
template <class M, class V> INLINE auto across(V x) {                                       // folds all lanes into one
    if constexpr (width<V> == 1) return x[0];
    else { constexpr int half = width<V> / 2; return across<M>(M::fold(part<half, 0>(x), part<half, half>(x))); }
}
template <class M, class T> INLINE void begin(T* p, long n) { for (long i = 0; i < n; ++i) p[i] = M::template identity<T>; }

// ------------------------------------------------------------------------------------------------------------ functions

template <class V, class F> INLINE V each(V x, F f) {
    for (int i = 0; i < width<V>; ++i) x[i] = f(x[i]);
    return x;
}

// A row for each function: its name here, in the C library, and in the library of vector functions, where that of
// W lanes is _ZGV, the letter of the instructions, N, W, a v for each argument, _ and the name (of floats with an f).
#define NAMED(letter, W, of, name) _ZGV##letter##N##W##of##_##name
#if defined(__AVX512F__)
#define WIDE(F, name) F(float, e, 16, name##f) F(double, e, 8, name)
#else
#define WIDE(F, name)
#endif
#if defined(__AVX2__)
#define WIDTHS(F, name) WIDE(F, name) F(float, d, 8, name##f) F(float, b, 4, name##f) F(double, d, 4, name) F(double, b, 2, name)
#else
#define WIDTHS(F, name)
#endif
#define OF_ONE(T, letter, W, name) extern "C" vec<T, W> NAMED(letter, W, v, name)(vec<T, W>) __attribute__((weak, const));
#define OF_TWO(T, letter, W, name) extern "C" vec<T, W> NAMED(letter, W, vv, name)(vec<T, W>, vec<T, W>) __attribute__((weak, const));
#define CALL_ONE(T, letter, W, name) \
    if constexpr (std::is_same_v<V, vec<T, W>>) if (NAMED(letter, W, v, name)) return NAMED(letter, W, v, name)(x);
#define CALL_TWO(T, letter, W, name) \
    if constexpr (std::is_same_v<V, vec<T, W>>) if (NAMED(letter, W, vv, name)) return NAMED(letter, W, vv, name)(x, y);
template <class V> constexpr bool pair_of_floats = std::is_same_v<V, vec<float, 2>>;         // fewer than any of these has
INLINE vec<float, 4> twice(vec<float, 2> x) { return __builtin_shufflevector(x, x, 0, 1, 0, 1); }
#define FUNCTION(name) WIDTHS(OF_ONE, name) template <class V> INLINE V f_##name(V x) { \
    if constexpr (single<V>) return std::name(x); \
    else if constexpr (pair_of_floats<V>) return part<2, 0>(f_##name(twice(x))); \
    else { WIDTHS(CALL_ONE, name) return each(x, [](auto y) { return std::name(y); }); } }
FUNCTION(log) FUNCTION(log2) FUNCTION(log10) FUNCTION(log1p) FUNCTION(expm1) FUNCTION(erfc) FUNCTION(tan) FUNCTION(asin)
FUNCTION(acos) FUNCTION(atan) FUNCTION(sinh) FUNCTION(cosh) FUNCTION(tanh)

// Beyond 10,000 the vector functions call those of one number for each lane. There sin and cos of floats are worked out
// in double: whole quarters of a turn are taken off, which leaves an error below 2⁻⁵² up to 2³⁰, and a series up to π/4 is
// off by less than 3·10⁻⁹. In lanes of 1.5·2⁵² + k the last bits are those of k.
template <int Quarters, int W> INLINE vec<float, W> of_turns(vec<float, W> x) {
    using wide = vec<double, W>;
    wide const unit = wide{} + 6755399441055744.0, exact = __builtin_convertvector(x, wide);
    wide const k = exact * M_2_PI + unit, quarters = k - unit;
    wide const r = exact - quarters * M_PI_2 - quarters * 6.123233995736766e-17, s = r * r;
    wide const sine = r + r * s * (-1. / 6 + s * (1. / 120 + s * (-1. / 5040 + s * (1. / 362880))));
    wide const cosine = 1 + s * (-1. / 2 + s * (1. / 24 + s * (-1. / 720 + s * (1. / 40320 + s * (-1. / 3628800)))));
    auto const turn = bits<vec<long, W>>(k) + Quarters;
    auto const y = bits<vec<long, W>>((turn & 1) != 0 ? cosine : sine) ^ ((turn & 2) << 62);
    return __builtin_convertvector(bits<wide>(y), vec<float, W>);
}
#define TURNS(name, quarters) WIDTHS(OF_ONE, name) template <class V> INLINE V f_##name(V x) { \
    if constexpr (single<V>) return std::name(x); \
    else if constexpr (pair_of_floats<V>) return part<2, 0>(f_##name(twice(x))); \
    else { \
        if constexpr (std::is_same_v<element<V>, float>) if (auto most = across<max>(x < 0 ? -x : x); most > 1e4f) { \
            if (most < 0x1p30f) return of_turns<quarters, width<V>>(x); \
            return each(x, [](auto y) { return std::name(y); }); } \
        WIDTHS(CALL_ONE, name) return each(x, [](auto y) { return std::name(y); }); } }
TURNS(sin, 0) TURNS(cos, 1)

#define ROUNDING(name, call) template <class V> INLINE V f_##name(V x) { \
    if constexpr (single<V>) return call(x); else return each(x, [](auto y) { return call(y); }); }
ROUNDING(sqrt, std::sqrt) ROUNDING(abs, std::fabs) ROUNDING(floor, std::floor) ROUNDING(ceil, std::ceil)
ROUNDING(round, std::rint) ROUNDING(trunc, std::trunc)

// Functions that are worked out in double, one by one: log |Γ|; its derivative, mirrored to x ≥ 1/2, raised to x ≥ 10 and
// there by its series; and the inverse of erf, bracketed and then by Newton's steps.
INLINE double lgamma_of(double x) { return std::lgamma(x); }
static double digamma_of(double x) {
    if (x <= 0 && x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    double less = 0;
    if (x < 0.5) { less = M_PI / std::tan(M_PI * x); x = 1 - x; }
    for (; x < 10; ++x) less += 1 / x;
    double i = 1 / (x * x);
    double series = i * (1. / 12 - i * (1. / 120 - i * (1. / 252 - i * (1. / 240 - i * (1. / 132 - i * 691. / 32760)))));
    return std::log(x) - 1 / (2 * x) - series - less;
}
static double erfinv_of(double x) {
    double a = std::fabs(x), low = 0, high = 6;
    if (!(a < 1)) return a == 1 ? x * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    for (int k = 0; k < 12; ++k) { double y = (low + high) / 2; (std::erfc(y) > 1 - a ? low : high) = y; }
    double y = (low + high) / 2;
    for (int k = 0; k < 4; ++k)
        y += (a > 0.5 ? std::erfc(y) - (1 - a) : a - std::erf(y)) * std::sqrt(M_PI) / 2 * std::exp(y * y);
    return std::copysign(y, x);
}
ROUNDING(lgamma, lgamma_of) ROUNDING(digamma, digamma_of) ROUNDING(erfinv, erfinv_of)

// e^x = 2^n·e^r with n the integer nearest to x/ln 2, so that |r| ≤ 0.35 and seven terms of the series are enough.
// 2^n is two factors, as neither the largest nor the smallest n is the exponent of a float.
template <int W> INLINE vec<float, W> exp_lanes(vec<float, W> x) {
    const auto none = x < -104.0f;                       // zero: what underflows takes machines many times as long
    x = none ? vec<float, W>{} : x;
    x = x > 89.0f ? all<W>(89.0f) : x;
    vec<float, W> shifted = x * 1.44269504088896341f + 12582912.0f, n = shifted - 12582912.0f;
    vec<float, W> r = n * -0.693359375f + x;
    r = n * 2.12194440e-4f + r;
    vec<float, W> p = r * (1.0f / 5040) + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * (r * r) + r + 1.0f;
    vec<int, W> k = bits<vec<int, W>>(shifted) - 0x4b400000, half = k >> 1;
    x = p * bits<vec<float, W>>((half + 127) << 23) * bits<vec<float, W>>((k - half + 127) << 23);
    return none ? vec<float, W>{} : x;
}
// A number as it is stored, and not on its way into a multiply-add. In exp(c·x − m), where m is the largest c·x, an
// exponent is 0 at most only if c·x is what it was when m was taken: an exact product may be above it by far.
template <class V> INLINE V rounded(V x) {
#if __has_builtin(__builtin_assoc_barrier)
    return __builtin_assoc_barrier(x);
#else
    volatile V stored = x;
    return stored;
#endif
}
WIDTHS(OF_ONE, exp)
template <class V> INLINE V f_exp(V x) {
    if constexpr (single<V>) return std::exp(x);
    else if constexpr (std::is_same_v<element<V>, float>) return exp_lanes<width<V>>(x);
    else { WIDTHS(CALL_ONE, exp) return each(x, [](auto y) { return std::exp(y); }); }
}
// Below 0.9 erf x is x + x·P(x²), and beyond 1 − 2^Q(|x|), up to 4, from where on it is one: P and Q are what is nearest,
// in Chebyshev's sense, to erf. 2^Q is as e^x is above, but that there is nothing to overflow or to be lost.
WIDTHS(OF_ONE, erf)
template <int W> INLINE vec<float, W> erf_lanes(vec<float, W> x) {
    vec<float, W> a = f_abs(x), u = x * x;
    a = a > 4.0f ? all<W>(4.0f) : a;
    vec<float, W> p = u * -0.000609036013f + 0.00501196285f;
    p = p * u - 0.0267789089f;
    p = p * u + 0.112821408f;
    p = p * u - 0.376125233f;
    p = p * u + 0.128379154f;
    vec<float, W> q = a * 0.000285971017f - 0.0044225722f;
    q = q * a + 0.0321940639f;
    q = q * a - 0.15020432f;
    q = q * a - 0.918962203f;
    q = q * a - 1.6270675f;
    q = q * a - 0.000240129187f;
    vec<float, W> shifted = q + 12582912.0f, r = q - (shifted - 12582912.0f);
    vec<float, W> y = r * 0.000153533619f + 0.00133988744f;
    y = y * r + 0.00961843736f;
    y = y * r + 0.0555033247f;
    y = y * r + 0.240226479f;
    y = y * r + 0.693147203f;
    y = y * r + 1.0f;
    vec<float, W> beyond = 1.0f - bits<vec<float, W>>(bits<vec<uint32_t, W>>(y) + (bits<vec<uint32_t, W>>(shifted) << 23));
    beyond = bits<vec<float, W>>(bits<vec<uint32_t, W>>(beyond) | (bits<vec<uint32_t, W>>(x) & 0x80000000u));
    return a >= 0.9f ? beyond : x * p + x;               // what is no number is none
}
template <class V> INLINE V f_erf(V x) {
    if constexpr (single<V>) return std::erf(x);
    else if constexpr (std::is_same_v<element<V>, float>) return erf_lanes<width<V>>(x);
    else { WIDTHS(CALL_ONE, erf) return each(x, [](auto y) { return std::erf(y); }); }
}
template <class V> INLINE V f_sigmoid(V x) { return 1 / (1 + f_exp(-x)); }
template <class V> INLINE V f_softplus(V x) { return f_log1p(f_exp(-f_abs(x))) + largest(x, V{}); }
template <class V> INLINE V f_sign(V x) { return choose(mask(x > 0), V{} + 1, choose(mask(x < 0), V{} - 1, x)); }
WIDTHS(OF_TWO, pow)
template <class V> INLINE V f_pow(V x, double q) {
    if constexpr (single<V>) return std::pow(x, V(q));
    else if constexpr (pair_of_floats<V>) return part<2, 0>(f_pow(twice(x), q));
    else {
        const V y = V{} + element<V>(q);
        WIDTHS(CALL_TWO, pow)
        return each(x, [q](auto one) { return std::pow(one, decltype(one)(q)); });
    }
}

template <int N, class V> INLINE V power(V x) {
    if constexpr (N == 1) return x;
    else if constexpr (N % 2) return x * power<N - 1>(x);
    else { V y = power<N / 2>(x); return y * y; }
}
// x to the power of N / 2, as C has it for −∞ and −0.
template <int N, class V> INLINE V halves(V x) {
    const V y = f_abs(x);
    return power<N / 2>(y) * choose(mask((x < 0) & (x > V{} - INFINITY)), V{} + NAN, f_sqrt(y));
}

INLINE long quotient(long a, long b) { return a / b - (a % b < 0); }                     // rounds down; b > 0
INLINE long remainder(long a, long b) { return a - b * quotient(a, b); }

// A running maximum that is −∞ still stands for no scores at all; then exp(−∞ − maximum) has to be 0, not NaN.
template <class V> INLINE V finite(V x) {
    if constexpr (single<V>) return largest(x, std::numeric_limits<V>::lowest());
    else return largest(x, V{} + std::numeric_limits<element<V>>::lowest());
}
template <class T> INLINE void scale(T* p, long n, T factor) { for (long i = 0; i < n; ++i) p[i] *= factor; }

}  // namespace
